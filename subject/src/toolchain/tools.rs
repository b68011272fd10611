//! What NVIDIA publishes besides ptxas, as wheels or in packages of Debian, as far as it is used here.

use std::fmt;

use super::releases::{Release, UnknownRelease};

/// Which of NVIDIA's products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// `cuobjdump`, the program that lists what is in a cubin.
    Cuobjdump,
    /// `nvdisasm`, the program that lists generated code.
    Nvdisasm,
    /// nvJitLink, the library that assembles and links.
    NvJitLink,
    /// The driver's JIT compiler library, which assembles.
    PtxJit,
}

impl ToolKind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ToolKind::Cuobjdump => "cuobjdump",
            ToolKind::Nvdisasm => "nvdisasm",
            ToolKind::NvJitLink => "nvjitlink",
            ToolKind::PtxJit => "ptxjit",
        }
    }

    /// Where the folder of one release holds it.
    pub(super) fn place(self) -> &'static str {
        match self {
            ToolKind::Cuobjdump => "bin/cuobjdump",
            ToolKind::Nvdisasm => "bin/nvdisasm",
            ToolKind::NvJitLink => "lib/libnvJitLink.so",
            ToolKind::PtxJit => "lib/libnvidia-ptxjitcompiler.so",
        }
    }
}

/// Who publishes a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// PyPI, as a wheel of the same version.
    PyPi,
    /// A release of Debian, in its section `non-free`.
    Debian {
        /// The release's name.
        suite: &'static str,
        /// The package's version.
        version: &'static str,
    },
}

/// One release of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Which product.
    pub kind: ToolKind,
    /// Its full version: `13.5.37`. That of ptxas of the same release may differ in the last number.
    pub version: &'static str,
    /// Who publishes the package.
    pub source: Source,
    /// The package that holds it.
    pub package: &'static str,
    /// Its path in the package.
    pub member: &'static str,
    /// SHA-256 of the package for Linux on x86-64, in hex.
    pub sha256: &'static str,
}

const CUOBJDUMP: Tool = Tool {
    kind: ToolKind::Cuobjdump,
    version: "",
    source: Source::PyPi,
    package: "nvidia-cuda-cuobjdump",
    member: "nvidia/cu13/bin/cuobjdump",
    sha256: "",
};
const JIT13: Tool = Tool {
    kind: ToolKind::NvJitLink,
    package: "nvidia-nvjitlink",
    member: "nvidia/cu13/lib/libnvJitLink.so.13",
    ..CUOBJDUMP
};
const JIT12: Tool =
    Tool { package: "nvidia-nvjitlink-cu12", member: "nvidia/nvjitlink/lib/libnvJitLink.so.12", ..JIT13 };

const NVDISASM: Tool = Tool {
    kind: ToolKind::Nvdisasm,
    package: "nvidia-cuda-nvdisasm",
    member: "nvidia/cu13/bin/nvdisasm",
    ..CUOBJDUMP
};

const PTXJIT: Tool = Tool { kind: ToolKind::PtxJit, package: "libnvidia-ptxjitcompiler1", ..CUOBJDUMP };

/// Every tool that can be installed by name: of each product the newest release of each minor, oldest first.
#[rustfmt::skip]
pub const TOOLS: &[Tool] = &[
    Tool { version: "13.5.37", sha256: "38780fee50863252a0b8926357faa91615ca1c8346490563f33a06100cd73f58", ..CUOBJDUMP },
    Tool { version: "13.5.37", sha256: "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca", ..NVDISASM },
    Tool { version: "12.0.140", sha256: "2a55ab4005e94cd49725a883157779e882e5fc0b786a7d261573331dd4a0ba95", ..JIT12 },
    Tool { version: "12.1.105", sha256: "015fed699b390ce3b8a8578d822d501a4194d0a341d3859554067c1ab291cb85", ..JIT12 },
    Tool { version: "12.2.140", sha256: "95635cafbf9f96c38bea5200ab145a2e6aefbb5405e0b04c1e4ba54df2d84ec9", ..JIT12 },
    Tool { version: "12.3.101", sha256: "64335a8088e2b9d196ae8665430bc6a2b7e6ef2eb877a9c735c804bd4ff6467c", ..JIT12 },
    Tool { version: "12.4.127", sha256: "06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57", ..JIT12 },
    Tool { version: "12.5.82", sha256: "f9b37bc5c8cf7509665cb6ada5aaa0ce65618f2332b7d3e78e9790511f111212", ..JIT12 },
    Tool { version: "12.6.85", sha256: "eedc36df9e88b682efe4309aa16b5b4e78c2407eac59e8c10a6a47535164369a", ..JIT12 },
    Tool { version: "12.8.93", sha256: "81ff63371a7ebd6e6451970684f916be2eab07321b73c9d244dc2b4da7f73b88", ..JIT12 },
    Tool { version: "12.9.86", sha256: "e3f1171dbdc83c5932a45f0f4c99180a70de9bd2718c1ab77d14104f6d7147f9", ..JIT12 },
    Tool { version: "13.0.88", sha256: "13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b", ..JIT13 },
    Tool { version: "13.1.115", sha256: "658e87d42ac6be82ae2c56eb9abe45bc8de45b7cf7692d24f86848f0266d121b", ..JIT13 },
    Tool { version: "13.2.86", sha256: "285a9cead9924391588d794400bdd7e8f9d1a277a7d78ed79acfa0ea702a14dd", ..JIT13 },
    Tool { version: "13.3.33", sha256: "26a6de7fb4c8fdaa7703d3dad720d6d427ddfea5c48a528fd97c11733ad830e5", ..JIT13 },
    Tool { version: "13.4.92", sha256: "e0391f24ed94ec879b84e3da4d4ec320c879aff681f2c7a638462f7199284323", ..JIT13 },
    Tool { version: "13.5.37", sha256: "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb", ..JIT13 },
    Tool {
        version: "470.256.02",
        source: Source::Debian { suite: "bullseye", version: "470.256.02-2" },
        member: "usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ptxjitcompiler.so.470.256.02",
        sha256: "e1b90d4d0ae96445744a6a756e82b8782229d68786f5b44213055f0f31820ad3",
        ..PTXJIT
    },
    Tool {
        version: "525.147.05",
        source: Source::Debian { suite: "bookworm", version: "525.147.05-15~deb12u1" },
        package: "libnvidia-tesla-ptxjitcompiler1",
        member: "usr/lib/x86_64-linux-gnu/nvidia/tesla/libnvidia-ptxjitcompiler.so.525.147.05",
        sha256: "dfda984bdeebb2e3944a86e4ce4e79748e5e0edf4629c4142d1b0816c2b87f61",
        ..PTXJIT
    },
    Tool {
        version: "535.261.03",
        source: Source::Debian { suite: "bookworm", version: "535.261.03-1" },
        member: "usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ptxjitcompiler.so.535.261.03",
        sha256: "4e03bb994324a81d1a39d1e3eb0fed3f7f3c31a2b606a6e9110300de4f4fa1a0",
        ..PTXJIT
    },
    Tool {
        version: "550.163.01",
        source: Source::Debian { suite: "trixie", version: "550.163.01-2" },
        member: "usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ptxjitcompiler.so.550.163.01",
        sha256: "73ce8da87e13d0cd5a7f5ec3e0b5822f91fe1cc72977542cd9a8354c25d810f4",
        ..PTXJIT
    },
];

/// There is no release of this name of a product in [`TOOLS`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no release `{name}` of {}: known are {}", .kind.name(), known(*.kind).join(" "))]
pub struct UnknownTool {
    /// The product.
    pub kind: ToolKind,
    /// What was asked for.
    pub name: String,
}

fn known(kind: ToolKind) -> Vec<&'static str> {
    TOOLS.iter().filter(|tool| tool.kind == kind).map(Tool::minor).collect()
}

impl Tool {
    /// The release of this name of a product: a minor release as `13.5`, or the full version.
    pub fn find(kind: ToolKind, name: &str) -> Result<&'static Tool, UnknownTool> {
        TOOLS
            .iter()
            .find(|tool| tool.kind == kind && (tool.version == name || tool.minor() == name))
            .ok_or_else(|| UnknownTool { kind, name: name.to_owned() })
    }

    /// The newest release of a product.
    pub fn newest(kind: ToolKind) -> Option<&'static Tool> {
        TOOLS.iter().rfind(|tool| tool.kind == kind)
    }

    /// `13.5` for `13.5.37`; of a driver the whole version.
    pub fn minor(&self) -> &'static str {
        match self.kind {
            // The number of a driver, which means nothing in parts.
            ToolKind::PtxJit => self.version,
            _ => self.version.rsplit_once('.').map_or(self.version, |(minor, _)| minor),
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.kind.name(), self.minor())
    }
}

/// Whatever can be installed by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installable {
    /// ptxas of one release.
    Release(&'static Release),
    /// Another product.
    Tool(&'static Tool),
}

/// A name of nothing that can be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownInstallable {
    /// No release of ptxas.
    #[error("{0}; or cuobjdump, nvjitlink@RELEASE or ptxjit@VERSION")]
    Release(#[from] UnknownRelease),
    /// No release of another product.
    #[error(transparent)]
    Tool(#[from] UnknownTool),
}

impl Installable {
    /// What is meant by `13.5` (ptxas), `nvjitlink@13.5`, or `cuobjdump` (its newest release).
    pub fn find(name: &str) -> Result<Installable, UnknownInstallable> {
        for kind in [ToolKind::Cuobjdump, ToolKind::Nvdisasm, ToolKind::NvJitLink, ToolKind::PtxJit] {
            let Some(rest) = name.strip_prefix(kind.name()) else { continue };
            if let Some(release) = rest.strip_prefix('@') {
                return Ok(Installable::Tool(Tool::find(kind, release)?));
            }
            if let ("", Some(newest)) = (rest, Tool::newest(kind)) {
                return Ok(Installable::Tool(newest));
            }
        }
        Ok(Installable::Release(Release::find(name)?))
    }
}

impl fmt::Display for Installable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Installable::Release(release) => release.fmt(f),
            Installable::Tool(tool) => tool.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_by_its_name() {
        for tool in TOOLS {
            assert_eq!(tool.sha256.len(), 64);
            assert_eq!(Installable::find(&tool.to_string()), Ok(Installable::Tool(tool)));
            assert_eq!(Tool::find(tool.kind, tool.version), Ok(tool));
        }
        assert_eq!(Installable::find("cuobjdump").unwrap().to_string(), "cuobjdump@13.5");
        assert_eq!(Installable::find("13.5"), Ok(Installable::Release(Release::find("13.5").unwrap())));
    }

    #[test]
    fn an_unknown_name_is_told_what_there_is() {
        let message = |name| Installable::find(name).unwrap_err().to_string();
        assert!(message("nvjitlink@11.8").starts_with("no release `11.8` of nvjitlink: known are 12.0 12.1"));
        assert!(message("nvjitlinks").starts_with("no release `nvjitlinks`: known are 11.7"));
        assert!(message("").ends_with("; or cuobjdump, nvjitlink@RELEASE or ptxjit@VERSION"));
    }
}
