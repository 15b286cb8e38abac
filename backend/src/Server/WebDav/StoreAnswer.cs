namespace Sluice.Server.WebDav;

/// <summary>Outcome of a change of the tree.</summary>
internal enum StoreAnswer
{
    /// <summary>201: the name is new.</summary>
    Created,

    /// <summary>204: the name was replaced, or deleted.</summary>
    Done,

    /// <summary>400: the content does not match the name.</summary>
    Malformed,

    /// <summary>403: the name may not be used here.</summary>
    Forbidden,

    /// <summary>404: there is no such name, or no longer.</summary>
    NotFound,

    /// <summary>408: the content did not come in time.</summary>
    TooSlow,

    /// <summary>409: the folder is not one that takes files.</summary>
    Conflict,

    /// <summary>412: a file stands there, and the request allowed none.</summary>
    AlreadyExists,

    /// <summary>413: more than is accepted.</summary>
    TooLarge,

    /// <summary>507: no room for it at present.</summary>
    NoSpace,
}
