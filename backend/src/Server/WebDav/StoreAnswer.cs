namespace Sluice.Server.WebDav;

/// <summary>The result of a change to the tree.</summary>
internal enum StoreAnswer
{
    /// <summary>201: the name was created.</summary>
    Created,

    /// <summary>204: the item was replaced or deleted.</summary>
    Done,

    /// <summary>400: the content is not what the name promises.</summary>
    Malformed,

    /// <summary>403: this name is not allowed here.</summary>
    Forbidden,

    NotFound,

    /// <summary>408: the content did not arrive in time.</summary>
    TooSlow,

    /// <summary>409: the folder accepts no files.</summary>
    Conflict,

    /// <summary>412: the name is taken, and the request forbids replacement.</summary>
    AlreadyExists,

    TooLarge,

    /// <summary>507: the disk is full, or a limit is reached.</summary>
    NoSpace,
}
