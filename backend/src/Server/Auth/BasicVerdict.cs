namespace Sluice.Server.Auth;

/// <summary>What became of Basic credentials.</summary>
internal enum BasicVerdict
{
    /// <summary>User and password are right.</summary>
    Accepted,

    /// <summary>They are wrong or unreadable.</summary>
    Refused,

    /// <summary>Too many wrong ones came from this sender; these were not looked at.</summary>
    Throttled,

    /// <summary>Too many others wait to be looked at.</summary>
    Busy,
}
