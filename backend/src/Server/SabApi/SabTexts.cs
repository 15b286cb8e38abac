namespace Sluice.Server.SabApi;

/// <summary>Texts that clients compare (docs/contracts/sabnzbd.md, sections 1 and 2).</summary>
internal static class SabTexts
{
    public const string KeyRequired = "API Key Required";
    public const string KeyIncorrect = "API Key Incorrect";
    public const string OneParameter = "expects one parameter";
    public const string NotImplemented = "not implemented";
    public const string QueueFull = "Queue is full";
    public const string Unavailable = "Database unavailable";
    public const string DiskFull = "Disk is full";
    public const string StorageUnavailable = "Storage unavailable";
    public const string TooLarge = "NZB is too large";
    public const string TooSlow = "Upload took too long";

    /// <summary>The version of SABnzbd whose answers these are.</summary>
    public const string Version = "5.0.4";
}
