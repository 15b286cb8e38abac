namespace Sluice.Server.WebDav;

/// <summary>One cell of the table of verbs.</summary>
internal enum VerbAnswer
{
    /// <summary>405 with <c>Allow</c>.</summary>
    NotAllowed,

    /// <summary>403 where the item exists or would be created, 404 where it would have to exist and does not.</summary>
    Forbidden,

    /// <summary>The handler of the verb answers, always with a refusal: which one depends on the request. Not part of <c>Allow</c>.</summary>
    Refused,

    /// <summary>The handler of the verb answers.</summary>
    Served,
}
