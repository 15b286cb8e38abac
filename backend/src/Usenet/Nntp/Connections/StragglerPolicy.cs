namespace Sluice.Usenet.Nntp;

/// <summary>Decides when a reply is late enough to be asked for a second time (F11).</summary>
/// <remarks>Pure and thread-safe.</remarks>
internal sealed class StragglerPolicy(NntpOptions options)
{
    private const int TimesUsual = 4;
    private const int RoundTrips = 2;
    private const int Handshakes = 3;

    /// <summary>Whether anything is asked for twice at all.</summary>
    public bool IsEnabled => options.HedgeEnabled;

    /// <summary>How long a connection may be silent.</summary>
    /// <param name="line">What the connection or its provider has shown.</param>
    public TimeSpan Patience(LineEstimate line)
    {
        var unusual = line.Silences.P95 is { } p95
            ? p95 * TimesUsual
            : TimeSpan.FromSeconds(line.RoundTrip is var roundTrip and > 0 ? RoundTrips * roundTrip : Handshakes * line.Handshake);
        return unusual > options.HedgeFloor ? unusual : options.HedgeFloor;
    }
}
