namespace Sluice.Tools.FullNzbTester;

internal static class ExitCode
{
    /// <summary>All steps succeeded, and every compared byte matched.</summary>
    public const int Good = 0;

    /// <summary>A step failed, a byte was wrong, a response was short, or the time limit was reached.</summary>
    public const int Failed = 1;

    public const int Usage = 2;

    /// <summary>A figure is worse than the comparison tolerates.</summary>
    public const int Worse = 3;

    /// <summary>The NZB cannot be read, or the import rejected it.</summary>
    public const int Refused = 4;

    /// <summary>No provider could be reached or logged in to.</summary>
    public const int NoProvider = 5;

    public const int Interrupted = 130;
}
