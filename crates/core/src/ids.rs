//! Ids are dense indexes. Each kind has its own type, so that the number of a flow cannot select a
//! link.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the id as an index into the table of its kind.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// Host or router.
    NodeId
);
id!(
    /// One direction of a link.
    LinkId
);
id!(
    /// Transport connection with its application.
    FlowId
);
id!(
    /// End of a transport connection, or of one of its subflows.
    EndpointId
);
id!(
    /// Sequence of links that packets in one direction of a flow follow.
    RouteId
);
id!(
    /// Cell: one carrier of one base station.
    CellId
);
id!(
    /// Radio interface of a UE. A node with two interfaces is two UEs to the radio access.
    UeId
);
id!(
    /// Data radio bearer (DRB) of a UE, in both directions.
    DrbId
);
