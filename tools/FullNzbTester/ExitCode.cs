namespace Sluice.Tools.FullNzbTester;

/// <summary>How a run ended, as the shell sees it.</summary>
internal static class ExitCode
{
    /// <summary>Every step that ran is good, and every byte compared was right.</summary>
    public const int Good = 0;

    /// <summary>A step failed, a byte was wrong, a response was short, or the time limit struck.</summary>
    public const int Failed = 1;

    /// <summary>The flags make no sense.</summary>
    public const int Usage = 2;

    /// <summary>A figure is worse than the comparison tolerates.</summary>
    public const int Worse = 3;

    /// <summary>The NZB cannot be read, or the import refuses it.</summary>
    public const int Refused = 4;

    /// <summary>No provider could be reached or logged in to.</summary>
    public const int NoProvider = 5;

    /// <summary>Ctrl-C.</summary>
    public const int Interrupted = 130;
}
