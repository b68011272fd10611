//! The releases of ptxas that NVIDIA publishes as wheels on PyPI.

use std::fmt;

use crate::version::Version;

/// One release of NVIDIA's toolchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Full version: `13.5.37`.
    pub version: &'static str,
    /// The package on PyPI that holds it, under the same version.
    pub package: &'static str,
    /// The path of ptxas in the wheel.
    pub ptxas: &'static str,
    /// SHA-256 of the wheel for Linux on x86-64, in hex, as published when this table was written. pip
    /// rejects any other file.
    pub sha256: &'static str,
}

/// The release that `ptxas` without a version stands for.
pub const DEFAULT: &str = "13.5";

const CU12: &str = "nvidia/cuda_nvcc/bin/ptxas";
const CU13: &str = "nvidia/cu13/bin/ptxas";

/// Every release that can be installed by name, oldest first.
#[rustfmt::skip]
pub const RELEASES: &[Release] = &[
    Release { version: "11.7.99", package: "nvidia-cuda-nvcc-cu11", ptxas: CU12, sha256: "34f6dfc39a85a5a6f57dfc5ed145a9f903c3f6520a86e7d24b548894769f5e48" },
    Release { version: "11.8.89", package: "nvidia-cuda-nvcc-cu11", ptxas: CU12, sha256: "f8e1e995166c884f2f5bf94975d7abb89175363b8712f7f81cd38d0df1b2cd85" },
    Release { version: "12.0.76", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "c989c1d8f52b4f52016dcdd702d62ae4969d4fc349517eeb9fecae652a3d1388" },
    Release { version: "12.0.140", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "958d54df87d0c0b7207e7fed403d6eeda0890a01cc44cfeaccf87c7f90e9b165" },
    Release { version: "12.1.66", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "36984989f46bf0abe8c6fcc33a442d7256ed9d10fa8f1a31ba14a7ca8cbd083b" },
    Release { version: "12.1.105", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "a0712a05ffd57d9f017580ffcc808b207f7f4ef7a5ca8ac1312318b153739a18" },
    Release { version: "12.2.91", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "a91ec7b095298fcc20b6da592930351cd826fe3d634ce47a6f2badd18e7e6934" },
    Release { version: "12.2.128", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "b9e8e5ed580e20a14a7d3ec8bb10410cbf4f43f88277b345474078f438ed98a2" },
    Release { version: "12.2.140", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "c6ff4ae7a636eb6cab7621191e19ac3779690686bbcf52c04d8b1ca2944e1e27" },
    Release { version: "12.3.52", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "b32cc7a9e9438d575e168bb0e5db18678dca9d3faedc45d79c1fbaa06e75aa40" },
    Release { version: "12.3.103", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "578e6c76d3fbbd810eba1390469fa0b727840274687d0b3c8f8484d82fa38caf" },
    Release { version: "12.3.107", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "a3344b94f5e89023fa17e0bbf8fb0dd26d5ef6f4091a5aab08f215e4999eac62" },
    Release { version: "12.4.99", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "7f47075eeaaf9d9a309df72dca9bfb9a1d2968a06b32ae1d147c81c971bdfd02" },
    Release { version: "12.4.131", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04" },
    Release { version: "12.5.40", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "8347e2458c99eb9db3c392035c1781798f2593d495554106cf45502eeabc1a10" },
    Release { version: "12.5.82", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "b03e545b8e8c3ce7ebcd7fc44063180ff52ff01d064ece2127ed90a04ef12cd0" },
    Release { version: "12.6.20", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "695d4e6b25aa6550b72f1b9377a7832da2c685e0e2a641e3aaeed7aacf3d7efa" },
    Release { version: "12.6.68", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "3999aa4a42ac8723c09a8aafd06bc4a6ec1a0b05c53bc96c8d6cf195e84f6935" },
    Release { version: "12.6.77", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "b66bb5dd6b8ae62262586691977d3b4a425e91db61b4b9bc2f6b42bcd4154b96" },
    Release { version: "12.6.85", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "d75d9d74599f4d7c0865df19ed21b739e6cb77a6497a3f73d6f61e8038a765e4" },
    Release { version: "12.8.61", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "171f605044ba17bc455d19cad289946c3dbea029a90c60dfa7b88e545bc8e329" },
    Release { version: "12.8.93", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "2d6dc36fb7cb5ac9c0b8825bc13d193c35487a315664007287d0126531238011" },
    Release { version: "12.9.41", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "1a4edb53162f87519c1dd4fe948bfb6b80c272530a9bbb5ebd6833527abc3233" },
    Release { version: "12.9.86", package: "nvidia-cuda-nvcc-cu12", ptxas: CU12, sha256: "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0" },
    Release { version: "13.0.48", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "d529c52d30c403cbf6fb17a3009530a48d94ea3ad99c990ad0301d9c744eb866" },
    Release { version: "13.0.88", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03" },
    Release { version: "13.1.80", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "3bc4a530566f7083da0cfe9f637474efa173a1101ed0bc72da9a98f8a55edb77" },
    Release { version: "13.1.115", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "fe5c0604869dfbc837bdce9e1eef8e4f0e0d103c29e3875014ba3538c70efb74" },
    Release { version: "13.2.51", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "18aea9976c8a0033cc61d45baf5649a5bd8647a45999ddd50b885814a6190442" },
    Release { version: "13.2.78", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "c3bd144dd9b6b25e062589acb7bbd43d93d3120c72fad71da808f9817aba1239" },
    Release { version: "13.2.86", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "7d3f56c8d705bad35bbba69eb0470d90856fd5d4dc48c6a6173aaf1e9f887cf5" },
    Release { version: "13.3.33", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "53b5f1be1731574368b8be931b77b6313492266c464aef3dd3f431569ce90deb" },
    Release { version: "13.3.73", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "f483af83166c4fa356a21606076d553b0b4ceaebbd9912e537545080db695bdd" },
    Release { version: "13.4.59", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "5a02c4a5beb1cc19a56148c0384c2ef7c2699259308ae41fc32ddab3976b51ce" },
    Release { version: "13.4.92", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "a1f3bfb27299e060b444d5df1f4bcd762501326cf0fd3141ed61756816ab9a0e" },
    Release { version: "13.5.37", package: "nvidia-cuda-nvcc", ptxas: CU13, sha256: "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7" },
];

/// The highest `.version` that each minor release accepts.
const MAX_PTX: [(&str, &str); 25] = [
    ("11.0", "7.0"),
    ("11.1", "7.1"),
    ("11.2", "7.2"),
    ("11.3", "7.3"),
    ("11.4", "7.4"),
    ("11.5", "7.5"),
    ("11.6", "7.6"),
    ("11.7", "7.7"),
    ("11.8", "7.8"),
    ("12.0", "8.0"),
    ("12.1", "8.1"),
    ("12.2", "8.2"),
    ("12.3", "8.3"),
    ("12.4", "8.4"),
    ("12.5", "8.5"),
    ("12.6", "8.5"),
    ("12.7", "8.6"),
    ("12.8", "8.7"),
    ("12.9", "8.8"),
    ("13.0", "9.0"),
    ("13.1", "9.1"),
    ("13.2", "9.2"),
    ("13.3", "9.3"),
    ("13.4", "9.4"),
    ("13.5", "9.5"),
];

/// Returns the highest `.version` that a known release accepts: `9.5` for `13.5.37`.
pub fn max_ptx(release: &str) -> Option<&'static str> {
    let minor = release.match_indices('.').nth(1).map_or(release, |(at, _)| &release[..at]);
    MAX_PTX.iter().find(|(known, _)| *known == minor).map(|(_, ptx)| *ptx)
}

/// No release in [`RELEASES`] has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no release `{0}`: known are {known}, and full versions such as {example}; \
     a ptxas of any release is tested by its path: ptxas:/PATH",
    known = minors().join(" "),
    example = RELEASES[0].version
)]
pub struct UnknownRelease(pub String);

impl Release {
    /// Finds a release by name: `13.5` is the newest listed release of that minor; `13.0.48` is a full
    /// version.
    pub fn find(name: &str) -> Result<&'static Release, UnknownRelease> {
        RELEASES
            .iter()
            .rfind(|release| release.version == name || release.minor() == name)
            .ok_or_else(|| UnknownRelease(name.to_owned()))
    }

    /// Returns the minor release: `13.5` for `13.5.37`.
    pub fn minor(&self) -> &'static str {
        self.version.rsplit_once('.').map_or(self.version, |(minor, _)| minor)
    }

    /// Returns the shortest name that [`Release::find`] accepts for the release: `13.5` for the newest listed
    /// of its minor.
    pub fn name(&self) -> &'static str {
        match Release::find(self.minor()) {
            Ok(newest) if newest == self => self.minor(),
            _ => self.version,
        }
    }

    /// Returns the highest `.version` that the release accepts.
    pub fn max_ptx(&self) -> Option<&'static str> {
        max_ptx(self.version)
    }

    /// Whether the release accepts modules of this `.version`. True if its highest version is unknown.
    pub fn accepts(&self, version: (u32, u32)) -> bool {
        self.max_ptx().and_then(Version::parse_ptx).is_none_or(|max| version <= max)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version)
    }
}

fn minors() -> Vec<&'static str> {
    let mut minors: Vec<_> = RELEASES.iter().map(Release::minor).collect();
    minors.dedup();
    minors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(version: &str) -> Vec<u32> {
        version.split('.').map(|part| part.parse().unwrap()).collect()
    }

    #[test]
    fn releases_are_sorted_and_complete() {
        assert!(RELEASES.is_sorted_by(|a, b| numbers(a.version) < numbers(b.version)));
        for release in RELEASES {
            assert_eq!(numbers(release.version).len(), 3);
            assert_eq!(release.sha256.len(), 64);
            assert!(release.max_ptx().is_some(), "{release}");
            assert_eq!(Release::find(release.name()), Ok(release));
        }
    }

    #[test]
    fn a_minor_means_its_newest_release() {
        assert_eq!(Release::find("13.0").unwrap().version, "13.0.88");
        assert_eq!(Release::find("12.2").unwrap().version, "12.2.140");
        assert_eq!(Release::find("13.0.48").unwrap().name(), "13.0.48");
        assert_eq!(Release::find("13.0.88").unwrap().name(), "13.0");
        assert!(Release::find(DEFAULT).is_ok());
    }

    #[test]
    fn an_unknown_release_is_told_which_there_are() {
        let message = Release::find("12.7").unwrap_err().to_string();
        assert!(message.starts_with("no release `12.7`: known are 11.7 11.8 12.0"), "{message}");
        assert!(Release::find("").is_err());
        assert!(Release::find("13").is_err());
    }

    #[test]
    fn the_highest_isa_follows_from_the_minor_release() {
        assert_eq!(max_ptx("13.5.37"), Some("9.5"));
        assert_eq!(max_ptx("12.6"), Some("8.5"));
        assert_eq!(max_ptx("14.0.1"), None);
    }
}
