//! Addresses in constants of LLVM's IR: an object, a distance from it, and the expression that adds them.

/// An address, or a constant address if the object is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlvmAddress {
    /// The object.
    pub object: LlvmPointer,
    /// The bytes added.
    pub offset: i64,
    /// The expression that adds them.
    pub form: AddressForm,
}

ptxsmith_syntax::every! {
    /// The object of a pointer, with the address space of the pointer.
    pub enum LlvmPointer {
        /// A null pointer.
        Null = "null *",
        /// An array, as an address of its own space.
        Global = "global *",
        /// The same array, as a generic address.
        Generic = "*",
        /// An array without address space, which the back end moves to `.global`.
        Plain = "plain *",
        /// A table in `.const`.
        Constant = "constant *",
        /// The same table, as a generic address.
        GenericConstant = "generic constant *",
        /// A function.
        Function = "function *",
        /// Another name of the function.
        Alias = "alias *",
        /// A variable of another module.
        Outside = "outside *",
        /// A variable of another module that may be missing.
        Weak = "weak *",
        /// A variable in `.shared`, as a generic address.
        Shared = "shared *",
        /// An internal variable whose name PTX may not allow.
        Named = "named *",
    }
}

ptxsmith_syntax::every! {
    /// The expression that adds to an address.
    pub enum AddressForm {
        /// `getelementptr` of bytes.
        Bytes = "",
        /// The same, inbounds.
        Inbounds = "inbounds ",
        /// `getelementptr` of an array of words; of bytes if the offset is no multiple of four.
        Elements = "elements ",
        /// A `getelementptr` of a `getelementptr`.
        Nested = "nested ",
        /// `inttoptr` of a sum.
        Sum = "inttoptr ",
        /// `addrspacecast` to generic of the sum; `getelementptr` of bytes without a cast.
        CastOutside = "outer cast ",
    }
}

/// An integer made of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressInteger {
    /// How it is made.
    pub form: IntegerForm,
    /// The width in bits.
    pub width: u32,
}

ptxsmith_syntax::every! {
    /// How an integer is made of an address.
    pub enum IntegerForm {
        /// `ptrtoint` to its width.
        Plain = "ptrtoint",
        /// `trunc` of `ptrtoint` to 64 bits.
        Truncated = "trunc",
        /// `add` of an address and the offset.
        Sum = "add",
        /// `sub` of two addresses in one object, which is the offset.
        Within = "sub within",
        /// `sub` of addresses of two objects, which PTX cannot express.
        Apart = "sub",
    }
}

/// How the IR names the internal variable that [`LlvmPointer::Named`] points to.
pub const NAMED: &str = "@NAMED";

impl LlvmPointer {
    /// Returns the symbol; [`NAMED`] stands for the name of a global's own variable.
    pub fn symbol(self) -> Option<&'static str> {
        self.name_in_ir().map(|name| &name[1..])
    }

    fn name_in_ir(self) -> Option<&'static str> {
        Some(match self {
            LlvmPointer::Null => return None,
            LlvmPointer::Global | LlvmPointer::Generic => "@targets",
            LlvmPointer::Plain => "@plain",
            LlvmPointer::Constant | LlvmPointer::GenericConstant => "@table",
            LlvmPointer::Function => "@function",
            LlvmPointer::Alias => "@alias",
            LlvmPointer::Outside => "@outside",
            LlvmPointer::Weak => "@missing",
            LlvmPointer::Shared => "@shared",
            LlvmPointer::Named => NAMED,
        })
    }

    /// Returns the address space of the object, if the pointer is converted to generic.
    fn cast_from(self) -> Option<u32> {
        match self {
            LlvmPointer::Generic => Some(1),
            LlvmPointer::GenericConstant => Some(4),
            LlvmPointer::Shared => Some(3),
            _ => None,
        }
    }

    /// Returns the type of the pointer.
    pub fn ty(self) -> &'static str {
        match self {
            LlvmPointer::Global | LlvmPointer::Named | LlvmPointer::Outside | LlvmPointer::Weak => {
                "ptr addrspace(1)"
            }
            LlvmPointer::Constant => "ptr addrspace(4)",
            _ => "ptr",
        }
    }

    /// Returns true if PTX has to say whether the address is generic, and then whether it is.
    pub fn is_generic(self) -> Option<bool> {
        match self {
            LlvmPointer::Null | LlvmPointer::Function | LlvmPointer::Alias => None,
            pointer => Some(pointer.ty() == "ptr"),
        }
    }
}

impl LlvmAddress {
    /// Returns the object itself.
    pub fn of(object: LlvmPointer) -> LlvmAddress {
        LlvmAddress { object, offset: 0, form: AddressForm::Bytes }
    }

    /// Returns the constant address that a null object with this offset stands for. An integer of 32 bits is
    /// extended by zeros.
    pub fn constant(self) -> u64 {
        match self.form {
            AddressForm::Elements => u64::from(self.offset as u32),
            _ => self.offset as u64,
        }
    }

    /// Prints the address as a constant.
    pub fn expression(self) -> String {
        let LlvmAddress { object, offset, form } = self;
        let ty = object.ty();
        let Some(name) = object.name_in_ir() else {
            return match (offset, form) {
                (0, _) => "null".to_owned(),
                (_, AddressForm::Sum) => format!("inttoptr (i64 {offset} to ptr)"),
                (_, AddressForm::Elements) => format!("inttoptr (i32 {} to ptr)", offset as i32),
                _ => moved("ptr", "null", offset, form),
            };
        };
        let base = match object.cast_from() {
            None => name.to_owned(),
            Some(space) if form == AddressForm::CastOutside => {
                let from = format!("ptr addrspace({space})");
                return format!("addrspacecast ({from} {} to ptr)", moved(&from, name, offset, form));
            }
            Some(space) => format!("addrspacecast (ptr addrspace({space}) {name} to ptr)"),
        };
        moved(ty, &base, offset, form)
    }

    /// Prints the integer made of the address.
    pub fn integer(self, made: AddressInteger) -> String {
        let ty = self.object.ty();
        let whole = |address: LlvmAddress| format!("ptrtoint ({ty} {} to i64)", address.expression());
        let start = LlvmAddress::of(self.object);
        let base = start.expression();
        let width = made.width;
        match made.form {
            IntegerForm::Plain => format!("ptrtoint ({ty} {} to i{width})", self.expression()),
            IntegerForm::Truncated if width < 64 => format!("trunc (i64 {} to i{width})", whole(self)),
            IntegerForm::Truncated => whole(self),
            IntegerForm::Sum => {
                let first = format!("ptrtoint ({ty} {base} to i{width})");
                let offset = if width == 32 { i64::from(self.offset as i32) } else { self.offset };
                format!("add (i{width} {first}, i{width} {offset})")
            }
            IntegerForm::Within => format!("sub (i64 {}, i64 {})", whole(self), whole(start)),
            IntegerForm::Apart => {
                format!("sub (i64 {}, i64 ptrtoint (ptr @function to i64))", whole(self))
            }
        }
    }

    /// Returns the address without names and numbers, for ids.
    pub fn shape(self) -> String {
        let sign = match self.offset {
            0 => return self.object.name().to_owned(),
            1.. => "+N",
            _ => "-N",
        };
        format!("{}{}{sign}", self.form.name(), self.object.name())
    }
}

/// Prints a sum of an address of this type and an offset.
fn moved(ty: &str, base: &str, offset: i64, form: AddressForm) -> String {
    let bytes = |base: &str, offset: i64| format!("getelementptr (i8, {ty} {base}, i64 {offset})");
    match form {
        _ if offset == 0 => base.to_owned(),
        AddressForm::Inbounds => format!("getelementptr inbounds (i8, {ty} {base}, i64 {offset})"),
        AddressForm::Elements if offset % 4 == 0 => {
            format!("getelementptr ([8 x i32], {ty} {base}, i64 {}, i64 {})", offset / 32, offset % 32 / 4)
        }
        AddressForm::Nested => bytes(&bytes(base, offset - 1), 1),
        AddressForm::Sum => {
            format!("inttoptr (i64 add (i64 ptrtoint ({ty} {base} to i64), i64 {offset}) to {ty})")
        }
        AddressForm::Bytes | AddressForm::Elements | AddressForm::CastOutside => bytes(base, offset),
    }
}

impl AddressInteger {
    /// An integer of 64 bits by `ptrtoint`.
    pub const WHOLE: AddressInteger = AddressInteger { form: IntegerForm::Plain, width: 64 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_adds_the_offset_by_its_own_expression() {
        let address = |object, offset, form| LlvmAddress { object, offset, form }.expression();
        assert_eq!(
            address(LlvmPointer::Global, -36, AddressForm::Elements),
            "getelementptr ([8 x i32], ptr addrspace(1) @targets, i64 -1, i64 -1)"
        );
        assert_eq!(
            address(LlvmPointer::Generic, 4, AddressForm::CastOutside),
            "addrspacecast (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @targets, i64 4) to ptr)"
        );
        assert_eq!(address(LlvmPointer::Null, 7, AddressForm::Sum), "inttoptr (i64 7 to ptr)");
        let low = LlvmAddress { object: LlvmPointer::Null, offset: -4, form: AddressForm::Elements };
        assert_eq!((low.expression().as_str(), low.constant()), ("inttoptr (i32 -4 to ptr)", 0xffff_fffc));
        assert_eq!(
            LlvmAddress { object: LlvmPointer::Function, offset: 4, form: AddressForm::Bytes }
                .integer(AddressInteger { form: IntegerForm::Sum, width: 64 }),
            "add (i64 ptrtoint (ptr @function to i64), i64 4)"
        );
    }
}
