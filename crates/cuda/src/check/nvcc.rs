//! nvcc's flags, said as those that the table of flags has. What this yields is looked up there like any other flag.

/// A compiler's arguments with nvcc's spellings replaced. What only says how code is made is left as it is, and left out later.
pub fn translate(arguments: &[String]) -> Vec<String> {
    let mut translated = Vec::new();
    let mut defined = Defined::default();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        let (name, joined) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        };
        match name {
            "-arch" | "--gpu-architecture" | "-gencode" | "--generate-code" => {
                let value = joined.or_else(|| rest.next()).unwrap_or_default();
                // `-gencode=arch=compute_80,code=sm_80` and `-arch=sm_80`.
                defined.architecture(value);
            }
            "-rdc" | "--relocatable-device-code" => {
                defined.relocatable |= joined.or_else(|| rest.next()) == Some("true");
            }
            "-dc" | "--device-c" => defined.relocatable = true,
            "--expt-relaxed-constexpr" | "-expt-relaxed-constexpr" => defined.relaxed = true,
            "--expt-extended-lambda" | "-expt-extended-lambda" | "--extended-lambda" | "-extended-lambda" => {
                defined.extended = true;
            }
            "-Xcompiler" | "--compiler-options" => {
                let value = joined.or_else(|| rest.next()).unwrap_or_default();
                translated.extend(value.trim_matches(['"', '\'']).split(',').map(str::to_owned));
            }
            // CMake writes these with an equals sign, which clang takes for a part of the path.
            "-isystem" | "-I" | "-D" | "-U" | "-include" if joined.is_some() => {
                translated.extend([name.to_owned(), joined.unwrap_or_default().to_owned()]);
            }
            _ => translated.push(argument.to_owned()),
        }
    }
    translated.extend(defined.flags());
    translated
}

/// What nvcc defines because of its flags.
#[derive(Default)]
struct Defined {
    architecture: Option<u32>,
    relocatable: bool,
    relaxed: bool,
    extended: bool,
}

impl Defined {
    /// Takes `sm_90a`, `compute_80`, `arch=compute_80,code=[sm_80,compute_80]`. The first architecture counts.
    fn architecture(&mut self, value: &str) {
        let digits = |name: &str| {
            let number = name.split("compute_").nth(1).or_else(|| name.split("sm_").nth(1))?;
            number.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
        };
        self.architecture = self.architecture.or_else(|| digits(value));
    }

    fn flags(self) -> impl Iterator<Item = String> {
        let architecture = self.architecture.map(|number| format!("-D__CUDA_ARCH__={number}0"));
        let macros = [
            (self.relocatable, "-D__CUDACC_RDC__"),
            (self.relaxed, "-D__CUDACC_RELAXED_CONSTEXPR__"),
            (self.extended, "-D__CUDACC_EXTENDED_LAMBDA__"),
        ];
        let macros = macros.into_iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| flag.to_owned());
        architecture.into_iter().chain(macros)
    }
}

/// Whether the host compiler that a command line names is Microsoft's.
pub fn is_microsoft(arguments: &[String]) -> bool {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = match argument.split_once('=') {
            Some(("-ccbin" | "--compiler-bindir", value)) => Some(value),
            None if argument == "-ccbin" || argument == "--compiler-bindir" => {
                rest.next().map(String::as_str)
            }
            _ => None,
        };
        let name = value.and_then(|value| value.rsplit(['/', '\\']).next());
        if name.is_some_and(|name| name.eq_ignore_ascii_case("cl") || name.eq_ignore_ascii_case("cl.exe")) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(command: &str) -> Vec<String> {
        shell_words::split(command).unwrap()
    }

    #[test]
    fn what_nvccs_flags_define_is_defined_and_spellings_are_clangs() {
        let command = "-isystem=/a -I=b -DX=1 -D=Y -gencode arch=compute_80,code=[sm_80,compute_80] -arch=sm_90a -rdc=true \
                       --expt-relaxed-constexpr --extended-lambda -Xcompiler=-fPIC,-DZ -std c++17 -c a.cu";
        let expected = "-isystem /a -I b -DX=1 -D Y -fPIC -DZ -std c++17 -c a.cu -D__CUDA_ARCH__=800 -D__CUDACC_RDC__ \
                        -D__CUDACC_RELAXED_CONSTEXPR__ -D__CUDACC_EXTENDED_LAMBDA__";
        assert_eq!(translate(&split(command)), split(expected));
        assert_eq!(translate(&split("-arch native -rdc false")), Vec::<String>::new());
    }

    #[test]
    fn the_host_compiler_is_microsofts_where_it_is_called_cl() {
        assert!(is_microsoft(&split("-ccbin 'C:\\VS\\cl.exe'")) && is_microsoft(&split("-ccbin=cl")));
        assert!(!is_microsoft(&split("-ccbin=/usr/bin/clang++ -Icl")));
    }
}
