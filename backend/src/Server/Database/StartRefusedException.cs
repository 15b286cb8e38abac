namespace Sluice.Server.Database;

/// <summary>Sluice cannot start, for a reason that the owner of the machine has to cure (CFG-13, CFG-14).</summary>
/// <remarks>The message is the line for stderr, without the program's name.</remarks>
internal sealed class StartRefusedException(int exitCode, string message, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>The port is taken (EX_UNAVAILABLE).</summary>
    public const int PortTaken = 69;

    /// <summary>A start-up assertion failed (EX_SOFTWARE).</summary>
    public const int AssertionFailed = 70;

    /// <summary>Another Sluice holds the folder (EX_TEMPFAIL).</summary>
    public const int FolderLocked = 75;

    /// <summary>Folder, database or TLS files cannot be used as they are (EX_CONFIG).</summary>
    public const int BadConfiguration = 78;

    /// <summary>Exit code of the process.</summary>
    public int ExitCode { get; } = exitCode;
}
