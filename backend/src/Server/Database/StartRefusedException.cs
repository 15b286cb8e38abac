namespace Sluice.Server.Database;

/// <summary>Sluice cannot start until the operator fixes the cause (CFG-13, CFG-14).</summary>
/// <remarks>The message is one line for stderr, without the program name.</remarks>
internal class StartRefusedException(int exitCode, string message, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>The port is in use (EX_UNAVAILABLE).</summary>
    public const int PortTaken = 69;

    /// <summary>A startup assertion failed (EX_SOFTWARE).</summary>
    public const int AssertionFailed = 70;

    /// <summary>Another instance of Sluice has locked the folder (EX_TEMPFAIL).</summary>
    public const int FolderLocked = 75;

    /// <summary>The folder, the database or the TLS files are unusable (EX_CONFIG).</summary>
    public const int BadConfiguration = 78;

    public int ExitCode { get; } = exitCode;
}

/// <summary>A newer program wrote the database (OPS-21).</summary>
/// <param name="path">The database.</param>
/// <param name="found">The database's schema version.</param>
/// <param name="known">The newest schema version that this program knows.</param>
/// <param name="advice">What to do instead of updating, as the end of a sentence.</param>
internal sealed class NewerDatabaseException(string path, int found, int known, string advice)
    : StartRefusedException(BadConfiguration, $"{path} was written by a newer Sluice (version {found}, this one knows {known}); install that one or {advice}")
{
    public int Known { get; } = known;

    /// <summary>Returns the same exception with different advice.</summary>
    public NewerDatabaseException With(string advice) => new(path, found, Known, advice);
}
