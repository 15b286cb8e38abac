namespace Sluice.Usenet.Streams;

/// <summary>An article of a file was corrupt, which is held against the file for a day and over restarts (F18, F38).</summary>
/// <param name="File">The <see cref="FileOrigin.LastingName"/> of the file.</param>
/// <param name="At">When, by the clock of the wall.</param>
public readonly record struct RememberedLie(string File, DateTimeOffset At)
{
    /// <summary>Most files that are remembered; the one whose lie is oldest makes room.</summary>
    public const int MostFiles = 10_000;

    /// <summary>How long it counts.</summary>
    public static readonly TimeSpan Counts = TimeSpan.FromHours(24);
}
