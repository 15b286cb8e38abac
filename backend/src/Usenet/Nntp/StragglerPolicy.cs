namespace Sluice.Usenet.Nntp;

/// <summary>Decides when an article that a reader waits for is late enough to be asked for a second time (F11).</summary>
/// <remarks>Pure and thread-safe.</remarks>
internal sealed class StragglerPolicy(NntpOptions options)
{
    private const int TimesUsual = 3;

    /// <summary>Whether anything is asked for twice at all.</summary>
    public bool IsEnabled => options.HedgeEnabled;

    /// <summary>How long a try may go without a byte.</summary>
    /// <param name="p95">What nineteen in twenty bodies of its provider take to their first byte; zero while unknown.</param>
    public TimeSpan Patience(TimeSpan p95)
    {
        var unusual = p95 * TimesUsual;
        return unusual > options.HedgeFloor ? unusual : options.HedgeFloor;
    }
}
