//! Target `cubin`: the cubin reader accepts or rejects any bytes without a panic.

use ptxsmith_subject::{Variable, cubin};

use crate::target::{Target, TargetFailure, no_program};

/// The target.
pub static CUBIN: Target = Target { name: "cubin", run, program: no_program };

/// The maximum storage in bytes that an input may declare without content. libFuzzer reports larger allocations as a leak.
pub(crate) const MOST_STORAGE: u64 = 64 << 20;

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    match cubin::read_within(data, MOST_STORAGE) {
        Ok(variables) => {
            TargetFailure::unless(cubin::read_within(data, MOST_STORAGE).as_ref() == Ok(&variables), || {
                "read in two ways".to_owned()
            })?;
            let names: usize =
                variables.values().flat_map(|v| v.addresses.iter().flatten()).map(|a| a.symbol.len()).sum();
            let bound = 1024 * data.len().max(64);
            TargetFailure::unless(names <= bound, || {
                format!("{names} bytes of names out of {}", data.len())
            })?;
            variables.iter().try_for_each(|(name, variable)| consistent(name, variable))
        }
        Err(error) => {
            let message = error.to_string();
            TargetFailure::unless(message.len() <= 500 + 2 * data.len(), || {
                format!("a message of {} bytes", message.len())
            })
        }
    }
}

/// Checks the invariants of a variable, whatever format it was read from.
pub(crate) fn consistent(name: &str, variable: &Variable) -> Result<(), TargetFailure> {
    let size = variable.size.unwrap_or(0);
    if let Some(bytes) = &variable.bytes {
        TargetFailure::unless(bytes.len() as u64 == size, || {
            format!("`{name}` has {} bytes, size {size}", bytes.len())
        })?;
    }
    TargetFailure::unless(variable.align.is_none_or(u64::is_power_of_two), || {
        format!("`{name}`: {:?}", variable.align)
    })?;
    let addresses = variable.addresses.as_deref().unwrap_or_default();
    TargetFailure::unless(addresses.is_sorted_by_key(|address| address.offset), || {
        format!("`{name}`: unsorted addresses")
    })?;
    for address in addresses {
        let offset = address.offset;
        TargetFailure::unless(offset < size, || {
            format!("`{name}` of {size} bytes holds an address at {offset}")
        })?;
        let lane = address.byte.is_none_or(|byte| byte < 8 && address.width == 1);
        TargetFailure::unless((1..=8).contains(&address.width) && lane, || {
            format!("`{name}` holds {address:?}")
        })?;
    }
    Ok(())
}
