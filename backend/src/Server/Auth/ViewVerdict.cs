namespace Sluice.Server.Auth;

/// <summary>What became of the key of a signed link.</summary>
internal enum ViewVerdict
{
    /// <summary>It is right and its time has not come.</summary>
    Accepted,

    /// <summary>There was none.</summary>
    Missing,

    /// <summary>It is not the key of this path.</summary>
    Incorrect,

    /// <summary>It was right and has run out.</summary>
    Expired,

    /// <summary>It is not the key of this path, and too much was wrong that came from this sender.</summary>
    Throttled,
}
