//! The NVIDIA products other than ptxas that ptxsmith uses, published as wheels or in Debian packages.

use std::fmt;

use super::releases::{Release, UnknownRelease};

ptxsmith_syntax::every! {
    /// Which of NVIDIA's products.
    pub enum ToolKind {
        /// `ptxas`, the assembler.
        Ptxas = "ptxas",
        /// `cuobjdump`, the program that lists the contents of a cubin.
        Cuobjdump = "cuobjdump",
        /// `nvdisasm`, the program that lists generated code.
        Nvdisasm = "nvdisasm",
        /// nvJitLink, the library that assembles and links.
        NvJitLink = "nvjitlink",
        /// The driver's JIT compiler library, which assembles.
        PtxJit = "ptxjit",
        /// `nvlink`, the linker.
        Nvlink = "nvlink",
        /// `cicc`, the device front end of CUDA C++.
        Cicc = "cicc",
        /// `nvcc`, the compiler driver of CUDA C++, with all that it runs for device code.
        Nvcc = "nvcc",
        /// NVRTC, the compiler of CUDA C++ as a library.
        Nvrtc = "nvrtc",
    }
}

impl ToolKind {
    /// Returns the path of the product within the folder of a release.
    pub(super) fn place(self) -> &'static str {
        match self {
            ToolKind::Ptxas => "bin/ptxas",
            ToolKind::Cuobjdump => "bin/cuobjdump",
            ToolKind::Nvdisasm => "bin/nvdisasm",
            ToolKind::NvJitLink => "lib/libnvJitLink.so",
            ToolKind::PtxJit => "lib/libnvidia-ptxjitcompiler.so",
            ToolKind::Nvlink => "bin/nvlink",
            ToolKind::Cicc => CICC.member,
            ToolKind::Nvcc => NVCC.member,
            ToolKind::Nvrtc => "lib/libnvrtc.so",
        }
    }

    /// Whether it answers `--version`. A library reports its version when it is loaded; `cicc` does not
    /// answer.
    pub(super) fn states_its_version(self) -> bool {
        !matches!(self, ToolKind::NvJitLink | ToolKind::PtxJit | ToolKind::Cicc | ToolKind::Nvrtc)
    }
}

/// The publisher of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// PyPI, as a wheel of the same version.
    PyPi,
    /// A Debian release, in its section `non-free`.
    Debian {
        /// The release's name.
        suite: &'static str,
        /// The package's version.
        version: &'static str,
    },
}

/// A wheel on PyPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// The package.
    pub package: &'static str,
    /// Version of the wheel.
    pub version: &'static str,
    /// SHA-256 of the wheel for Linux on x86-64, in hex, as published when the table was written. pip rejects
    /// any other file.
    pub sha256: &'static str,
}

impl fmt::Display for Wheel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.package, self.version)
    }
}

/// A release of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The product.
    pub kind: ToolKind,
    /// Full version: `13.5.37`. May differ in the last number from ptxas of the same release.
    pub version: &'static str,
    /// The publisher of the package.
    pub source: PackageSource,
    /// The package that contains it.
    pub package: &'static str,
    /// Path within the package.
    pub member: &'static str,
    /// SHA-256 of the package for Linux on x86-64, in hex.
    pub sha256: &'static str,
    /// Further wheels with files that it runs.
    pub with: &'static [Wheel],
}

const CUOBJDUMP: Tool = Tool {
    kind: ToolKind::Cuobjdump,
    version: "",
    source: PackageSource::PyPi,
    package: "nvidia-cuda-cuobjdump",
    member: "nvidia/cu13/bin/cuobjdump",
    sha256: "",
    with: &[],
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

const NVLINK: Tool = Tool {
    kind: ToolKind::Nvlink,
    package: "nvidia-cuda-nvcc",
    member: "nvidia/cu13/bin/nvlink",
    ..CUOBJDUMP
};

const CICC: Tool =
    Tool { kind: ToolKind::Cicc, package: "nvidia-nvvm", member: "nvidia/cu13/nvvm/bin/cicc", ..CUOBJDUMP };

/// Debian's package of the whole toolkit, because NVIDIA's wheels of these releases have no `cicc`.
const CICC_DEBIAN: Tool =
    Tool { package: "nvidia-cuda-toolkit", member: "usr/lib/nvidia-cuda-toolkit/bin/cicc", ..CICC };

const NVCC: Tool =
    Tool { kind: ToolKind::Nvcc, package: "nvidia-cuda-nvcc", member: "nvidia/cu13/bin/nvcc", ..CUOBJDUMP };

const NVRTC13: Tool = Tool {
    kind: ToolKind::Nvrtc,
    package: "nvidia-cuda-nvrtc",
    member: "nvidia/cu13/lib/libnvrtc.so.13",
    ..CUOBJDUMP
};
const NVRTC12: Tool =
    Tool { package: "nvidia-cuda-nvrtc-cu12", member: "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", ..NVRTC13 };
const NVRTC11: Tool =
    Tool { package: "nvidia-cuda-nvrtc-cu11", member: "nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2", ..NVRTC13 };

const CICC_13_0: Tool = Tool {
    version: "13.0.88",
    sha256: "c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0",
    ..CICC
};
const CICC_13_5: Tool = Tool {
    version: "13.5.37",
    sha256: "c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070",
    ..CICC
};

/// Every tool that can be installed by name: for each product the newest release of each minor, oldest first.
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
    Tool { version: "13.0.88", sha256: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03", ..NVLINK },
    Tool { version: "13.1.115", sha256: "fe5c0604869dfbc837bdce9e1eef8e4f0e0d103c29e3875014ba3538c70efb74", ..NVLINK },
    Tool { version: "13.2.86", sha256: "7d3f56c8d705bad35bbba69eb0470d90856fd5d4dc48c6a6173aaf1e9f887cf5", ..NVLINK },
    Tool { version: "13.3.73", sha256: "f483af83166c4fa356a21606076d553b0b4ceaebbd9912e537545080db695bdd", ..NVLINK },
    Tool { version: "13.4.92", sha256: "a1f3bfb27299e060b444d5df1f4bcd762501326cf0fd3141ed61756816ab9a0e", ..NVLINK },
    Tool { version: "13.5.37", sha256: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7", ..NVLINK },
    Tool {
        version: "470.256.02",
        source: PackageSource::Debian { suite: "bullseye", version: "470.256.02-2" },
        member: "usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ptxjitcompiler.so.470.256.02",
        sha256: "e1b90d4d0ae96445744a6a756e82b8782229d68786f5b44213055f0f31820ad3",
        ..PTXJIT
    },
    Tool {
        version: "525.147.05",
        source: PackageSource::Debian { suite: "bookworm", version: "525.147.05-15~deb12u1" },
        package: "libnvidia-tesla-ptxjitcompiler1",
        member: "usr/lib/x86_64-linux-gnu/nvidia/tesla/libnvidia-ptxjitcompiler.so.525.147.05",
        sha256: "dfda984bdeebb2e3944a86e4ce4e79748e5e0edf4629c4142d1b0816c2b87f61",
        ..PTXJIT
    },
    Tool {
        version: "535.261.03",
        source: PackageSource::Debian { suite: "bookworm", version: "535.261.03-1" },
        member: "usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ptxjitcompiler.so.535.261.03",
        sha256: "4e03bb994324a81d1a39d1e3eb0fed3f7f3c31a2b606a6e9110300de4f4fa1a0",
        ..PTXJIT
    },
    Tool {
        version: "550.163.01",
        source: PackageSource::Debian { suite: "trixie", version: "550.163.01-2" },
        member: "usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ptxjitcompiler.so.550.163.01",
        sha256: "73ce8da87e13d0cd5a7f5ec3e0b5822f91fe1cc72977542cd9a8354c25d810f4",
        ..PTXJIT
    },
    Tool {
        version: "11.8.89",
        source: PackageSource::Debian { suite: "bookworm", version: "11.8.89~11.8.0-5~deb12u1" },
        sha256: "d1156026e704fe0368b6295db06224ed00a727966fb13454f34e3f3102db0457",
        ..CICC_DEBIAN
    },
    Tool {
        version: "12.4.131",
        source: PackageSource::Debian { suite: "trixie", version: "12.4.131~12.4.1-2" },
        sha256: "cd5fe85aee38d108b315f408a688641478f2402622a10c677478eb7a6c4e5319",
        ..CICC_DEBIAN
    },
    CICC_13_0,
    Tool { version: "13.1.115", sha256: "6fdf483d85d9903f9cbf84c41d99221a86e0c0511d05de3d237b4ab69c11627e", ..CICC },
    Tool { version: "13.2.86", sha256: "a9244f3209922d655612c11ebb4117ea1f80983cb2b215c9cccded127282cebc", ..CICC },
    Tool { version: "13.3.73", sha256: "0e28e0858a3475e11ac67d35301cd5bf82666a1c0dc4ec4e80ceaf3a5fd1dea8", ..CICC },
    Tool { version: "13.4.92", sha256: "e4c81cb321dd9743bcf871c5e7e8fecd7f05dea607944426e102bdda8d49e137", ..CICC },
    CICC_13_5,
    Tool {
        version: "13.0.88",
        sha256: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
        with: &[
            CICC_13_0.wheel(),
            Wheel { package: "nvidia-cuda-crt", version: "13.0.88", sha256: "2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4" },
            Wheel { package: "nvidia-cuda-runtime", version: "13.0.88", sha256: "422a38f7c739ecbdd3a4b6ec7ed0a1d74db43d8e9bc26685f3d845638922b178" },
        ],
        ..NVCC
    },
    Tool {
        version: "13.5.37",
        sha256: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
        with: &[
            CICC_13_5.wheel(),
            Wheel { package: "nvidia-cuda-crt", version: "13.5.37", sha256: "e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29" },
            Wheel { package: "nvidia-cuda-runtime", version: "13.5.37", sha256: "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d" },
        ],
        ..NVCC
    },
    Tool { version: "11.8.89", sha256: "a8d02f3cba345be56b1ffc3e74d8f61f02bb758dd31b0f20e12277a5a244f756", ..NVRTC11 },
    Tool { version: "12.0.76", sha256: "8dd4458a7d8bf8fd2b01a34a9069856d53a9b4c0af2037b77c12b270daf9c828", ..NVRTC12 },
    Tool { version: "12.9.86", sha256: "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4", ..NVRTC12 },
    Tool { version: "13.0.88", sha256: "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575", ..NVRTC13 },
    Tool { version: "13.5.37", sha256: "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc", ..NVRTC13 },
];

/// No release of a product in [`TOOLS`] has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no release `{name}` of {}: known are {}", .kind.name(), known_releases(*.kind).join(" "))]
pub struct UnknownTool {
    /// The product.
    pub kind: ToolKind,
    /// The requested name.
    pub name: String,
}

fn known_releases(kind: ToolKind) -> Vec<&'static str> {
    Tool::all(kind).map(Tool::minor).collect()
}

impl Tool {
    /// Finds a release of a product by name: a minor release such as `13.5`, or the full version.
    pub fn find(kind: ToolKind, name: &str) -> Result<&'static Tool, UnknownTool> {
        Tool::all(kind)
            .find(|tool| tool.version == name || tool.minor() == name)
            .ok_or_else(|| UnknownTool { kind, name: name.to_owned() })
    }

    /// Returns the newest release of a product.
    pub fn newest(kind: ToolKind) -> Option<&'static Tool> {
        TOOLS.iter().rfind(|tool| tool.kind == kind)
    }

    /// Returns every release of a product, oldest first.
    pub fn all(kind: ToolKind) -> impl Iterator<Item = &'static Tool> {
        TOOLS.iter().filter(move |tool| tool.kind == kind)
    }

    /// Returns the wheel that contains it.
    pub const fn wheel(&self) -> Wheel {
        Wheel { package: self.package, version: self.version, sha256: self.sha256 }
    }

    /// Whether it runs other files of its wheels. If so, all files stay where they are in the wheels.
    pub(super) fn runs_others(&self) -> bool {
        matches!(self.kind, ToolKind::Cicc | ToolKind::Nvcc | ToolKind::Nvrtc)
            && self.source == PackageSource::PyPi
    }

    /// Returns its path within its folder.
    pub(super) fn place(&self) -> &'static str {
        if self.runs_others() { self.member } else { self.kind.place() }
    }

    /// Returns all wheels that it is installed from.
    pub(super) fn wheels(&self) -> Vec<Wheel> {
        [&[self.wheel()], self.with].concat()
    }

    /// Returns the name of its folder.
    pub(super) fn folder(&self) -> String {
        match self.kind {
            ToolKind::Ptxas => self.version.to_owned(),
            kind => format!("{}-{}", kind.name(), self.version),
        }
    }

    /// Returns the minor release: `13.5` for `13.5.37`; for a driver, the whole version.
    pub fn minor(&self) -> &'static str {
        match self.kind {
            // Parts of a driver's version number have no meaning.
            ToolKind::PtxJit => self.version,
            _ => self.version.rsplit_once('.').map_or(self.version, |(minor, _)| minor),
        }
    }
}

impl From<&Release> for Tool {
    /// Describes a release's ptxas as a tool.
    fn from(release: &Release) -> Tool {
        Tool {
            kind: ToolKind::Ptxas,
            version: release.version,
            source: PackageSource::PyPi,
            package: release.package,
            member: release.ptxas,
            sha256: release.sha256,
            with: &[],
        }
    }
}

impl Tool {
    /// Returns its name in `ptxsmith toolchain install`.
    pub fn name_to_install(&self) -> String {
        match self.kind {
            ToolKind::Ptxas => self.version.to_owned(),
            _ => format!("{}@{}", self.kind.name(), self.version),
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.kind.name(), self.minor())
    }
}

/// Anything that can be installed by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installable {
    /// A release of ptxas.
    Release(&'static Release),
    /// Another product.
    Tool(&'static Tool),
}

/// A name that does not match anything that can be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownInstallable {
    /// No release of ptxas has this name.
    #[error(
        "{0}; or cuobjdump, nvjitlink@RELEASE, nvlink@RELEASE, ptxjit@VERSION, cicc@RELEASE, nvcc@RELEASE \
         or nvrtc@RELEASE"
    )]
    Release(#[from] UnknownRelease),
    /// No release of another product has this name.
    #[error(transparent)]
    Tool(#[from] UnknownTool),
}

impl Installable {
    /// Parses `13.5` (ptxas), `nvjitlink@13.5`, or `cuobjdump` (its newest release).
    pub fn find(name: &str) -> Result<Installable, UnknownInstallable> {
        use ToolKind::{Cicc, Cuobjdump, NvJitLink, Nvcc, Nvdisasm, Nvlink, Nvrtc, PtxJit};
        for kind in [Cuobjdump, Nvdisasm, NvJitLink, Nvlink, PtxJit, Cicc, Nvcc, Nvrtc] {
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
            assert!(tool.wheels().iter().all(|wheel| wheel.sha256.len() == 64));
            assert_eq!(Installable::find(&tool.to_string()), Ok(Installable::Tool(tool)));
            assert_eq!(Tool::find(tool.kind, tool.version), Ok(tool));
        }
        assert_eq!(Installable::find("cuobjdump").unwrap().to_string(), "cuobjdump@13.5");
        assert_eq!(Installable::find("13.5"), Ok(Installable::Release(Release::find("13.5").unwrap())));
    }

    #[test]
    fn what_runs_other_files_is_installed_with_all_its_wheels() {
        let nvcc = Tool::find(ToolKind::Nvcc, "13.0").unwrap();
        let names: Vec<String> = nvcc.wheels().iter().map(Wheel::to_string).collect();
        let packages = ["nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime"];
        assert_eq!(names, packages.map(|package| format!("{package} 13.0.88")));
        let releases: Vec<&str> = Tool::all(ToolKind::Cicc).map(Tool::minor).collect();
        assert_eq!(releases, ["11.8", "12.4", "13.0", "13.1", "13.2", "13.3", "13.4", "13.5"]);
    }

    #[test]
    fn an_unknown_name_is_told_what_there_is() {
        let message = |name| Installable::find(name).unwrap_err().to_string();
        assert!(message("nvjitlink@11.8").starts_with("no release `11.8` of nvjitlink: known are 12.0 12.1"));
        assert!(message("nvjitlinks").starts_with("no release `nvjitlinks`: known are 11.7"));
        assert!(message("").ends_with(
            "; or cuobjdump, nvjitlink@RELEASE, nvlink@RELEASE, ptxjit@VERSION, cicc@RELEASE, nvcc@RELEASE or nvrtc@RELEASE"
        ));
    }
}
