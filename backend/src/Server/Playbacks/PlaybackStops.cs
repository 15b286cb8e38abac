using System.Globalization;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Playbacks;

/// <summary>Remembers for an hour which files stopped at a gap, because the list of problems names films rather than requests.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the stops and is never held across a call.</remarks>
internal sealed class PlaybackStops(TimeProvider time)
{
    private const int Most = 20;
    private static readonly TimeSpan RecentWindow = TimeSpan.FromHours(1);

    private readonly Lock _gate = new();
    private readonly Queue<Stop> _stops = new();

    /// <summary>Records that a read ended because the articles at this offset are missing from every provider.</summary>
    public void Add(PlayedFile played, long offset)
    {
        var name = played.Title is { } title ? title.Year is { } year ? string.Create(CultureInfo.InvariantCulture, $"{title.Title} ({year})") : title.Title : played.File.Name;
        var stop = new Stop(name, played.File.Id, (int)(100 * offset / Math.Max(1, played.File.Length)), time.WallTime());
        lock (_gate)
        {
            if (_stops.Count == Most)
                _stops.Dequeue();
            _stops.Enqueue(stop);
        }
    }

    /// <summary>Returns one row per film, with its latest stop.</summary>
    public IEnumerable<AttentionRow> Rows()
    {
        var since = time.WallTime() - RecentWindow;
        Stop[] stops;
        lock (_gate)
            stops = [.. _stops.Where(stop => stop.At >= since)];
        return stops.Reverse().DistinctBy(static stop => stop.File).Select(static stop => new AttentionRow(
            AttentionKind.Film,
            AttentionLevel.Warning,
            string.Create(CultureInfo.InvariantCulture, $"{stop.Name} stopped at {stop.Percent}%: articles are missing on all providers."),
            IdPath.NameOf(stop.File),
            stop.At));
    }

    private sealed record Stop(string Name, Guid File, int Percent, DateTimeOffset At);
}
