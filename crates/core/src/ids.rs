//! Ids are dense indices, a type each, so that a link cannot be looked up by a flow's number.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into the table of its kind.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A host or router.
    NodeId
);
id!(
    /// One direction of a link.
    LinkId
);
id!(
    /// A transport connection with its application.
    FlowId
);
id!(
    /// One end of a transport connection, or of one of its subflows.
    EndpointId
);
id!(
    /// A fixed sequence of links that packets of one direction of a flow follow.
    RouteId
);
id!(
    /// A cell: one carrier of one base station.
    CellId
);
id!(
    /// A UE's radio interface; a node with two interfaces is two UEs to the radio access.
    UeId
);
id!(
    /// A data radio bearer (DRB) of a UE, both directions.
    DrbId
);
