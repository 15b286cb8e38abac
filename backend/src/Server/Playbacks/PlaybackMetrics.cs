using Sluice.Server.Diagnostics;
using Sluice.Server.Library;

namespace Sluice.Server.Playbacks;

/// <summary>Metrics of playbacks (ADM-40). Read when they are requested.</summary>
internal sealed class PlaybackMetrics(PlaybackRegistry playbacks)
{
    public ValueTask WriteAsync(MetricsWriter to, CancellationToken cancellationToken)
    {
        var totals = playbacks.Totals;
        to.Gauge("sluice_streams_active", "Playbacks with an open request.");
        to.Sample(playbacks.List().Count(static played => played.IsOpen));
        to.Counter("sluice_stream_bytes_total", "Bytes of files sent to clients.");
        to.Sample(totals.BytesSent);
        to.Histogram("sluice_stream_first_byte_seconds", "Time from the request for a file to its first byte.");
        to.Sample(totals.FirstByteTimes);
        to.Counter("sluice_stream_stalls_total", "Reads after the first byte for which the client waited longer than a second.");
        to.Sample(totals.Stalls);
        to.Counter("sluice_stream_resets_total", "Responses cut off after their first byte, because the rest could not be read.");
        foreach (var reason in Enum.GetValues<ReadFailure>())
            to.Sample(totals.ResetsBy(reason), ("reason", reason.ToString().ToLowerInvariant()));
        return ValueTask.CompletedTask;
    }
}
