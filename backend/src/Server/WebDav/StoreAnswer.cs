namespace Sluice.Server.WebDav;

/// <summary>Outcome of a change to the tree.</summary>
internal enum StoreAnswer
{
    /// <summary>201: a new name.</summary>
    Created,

    /// <summary>204: replaced or deleted.</summary>
    Done,

    /// <summary>400: the content does not match the name.</summary>
    Malformed,

    /// <summary>403: the name must not be used here.</summary>
    Forbidden,

    NotFound,

    /// <summary>408: the content did not arrive in time.</summary>
    TooSlow,

    /// <summary>409: the folder takes no files.</summary>
    Conflict,

    /// <summary>412: the name is taken and the request allows no replacement.</summary>
    AlreadyExists,

    TooLarge,

    /// <summary>507: no space, or a limit is reached.</summary>
    NoSpace,
}
