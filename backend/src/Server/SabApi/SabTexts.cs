namespace Sluice.Server.SabApi;

/// <summary>Texts that clients compare literally (docs/contracts/sabnzbd.md, sections 1 and 2).</summary>
internal static class SabTexts
{
    public const string KeyRequired = "API Key Required";
    public const string KeyIncorrect = "API Key Incorrect";
    public const string KeyLocked = "API Key cannot be checked, because ";
    public const string OneParameter = "expects one parameter";
    public const string TwoParameters = "expects two parameters";
    public const string IntegerValue = "expects integer value";
    public const string NoItem = "item does not exist";
    public const string NoFileGiven = "no file given";
    public const string NoFile = "file does not exist";
    public const string NotImplemented = "not implemented";
    public const string ConfigLocked = "Configuration locked";
    public const string QueueFull = "Queue is full";
    public const string Unavailable = "Database unavailable";
    public const string DiskFull = "Disk is full";
    public const string UrlRefused = "URL refused: ";
    public const string StorageUnavailable = "Storage unavailable";
    public const string TooLarge = "NZB is too large";
    public const string TooSlow = "Upload took too long";
    public const string WrongPath = "There is no API at this path. Check the URL base";

    /// <summary>The SABnzbd version that this API emulates.</summary>
    public const string Version = "5.0.4";
}
