namespace Sluice.Server.History;

/// <summary>Why an import failed. Names and sentences are part of the contract (docs/contracts/import.md, section 9).</summary>
internal enum FailureReason
{
    /// <summary>The content is something else.</summary>
    NotAnNzb,

    /// <summary>An NZB without a single usable article.</summary>
    NzbEmpty,

    /// <summary>Beyond one of the limits of IMP-11.</summary>
    NzbTooLarge,

    /// <summary>The stored copy is gone or damaged.</summary>
    StoredNzbLost,

    /// <summary>The name is taken, and the settings say that this is a failure.</summary>
    DuplicateRelease,

    /// <summary>No first article exists anywhere.</summary>
    DeadPost,

    /// <summary>Articles are gone that a file cannot do without.</summary>
    MissingArticles,

    /// <summary>An article that a file cannot do without is damaged wherever it exists.</summary>
    CorruptArticles,

    /// <summary>The payload is packed in a way that cannot be streamed.</summary>
    UnsupportedArchive,

    /// <summary>Nothing in it can be played.</summary>
    NoMedia,

    /// <summary>A step made no progress twice.</summary>
    Stalled,

    /// <summary>A defect of this program.</summary>
    InternalError,
}
