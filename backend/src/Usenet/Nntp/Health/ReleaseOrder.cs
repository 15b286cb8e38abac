using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Health;

/// <summary>
/// Learns which providers lack much of a release. A provider that missed 30 % of at least four articles is asked last for half an hour, or until it misses less
/// than 12 %. This changes only the order, and proves no article missing.
/// </summary>
/// <remarks>Thread-safe. Bounded: a new release replaces the oldest one.</remarks>
internal sealed class ReleaseOrder(TimeProvider time)
{
    private const int MostReleases = 1024;
    private const int FewestAsked = 4;
    private const double GoesBehind = 0.30;
    private const double ComesBack = 0.12;

    // Each time this many results have arrived, older results lose half their weight.
    private const int Halved = 64;
    private static readonly TimeSpan StaysBehind = TimeSpan.FromMinutes(30);

    private readonly Lock _gate = new();

    // The records of each release, by provider, guarded by _gate. A release's age counts from its first miss.
    private readonly AgingMap<object, Dictionary<Guid, Record>> _releases = new(MostReleases, TimeSpan.MaxValue, time);

    /// <summary>Returns the providers to ask after others of their kind for a release's articles, as indexes into <paramref name="providers"/>.</summary>
    public ProviderSet Behind(object? release, IReadOnlyList<Guid> providers)
    {
        var behind = default(ProviderSet);
        if (release is null)
            return behind;
        lock (_gate)
        {
            if (!_releases.TryGet(release, out var records, out _))
                return behind;
            for (var provider = 0; provider < providers.Count; provider++)
            {
                if (records.TryGetValue(providers[provider], out var record) && record.BehindSince is { } since && time.GetElapsedTime(since) < StaysBehind)
                    behind = behind.With(provider);
            }
        }

        return behind;
    }

    /// <summary>Counts a delivery or a miss of one of a release's articles.</summary>
    public void Answered(object? release, Guid provider, bool isMiss)
    {
        if (release is null)
            return;
        lock (_gate)
        {
            // A release without misses needs no record.
            if (!_releases.TryGet(release, out var records, out _))
            {
                if (!isMiss)
                    return;
                _releases.Set(release, records = []);
            }

            records[provider] = records.GetValueOrDefault(provider).With(isMiss, time);
        }
    }

    private readonly record struct Record(double Asked, double Missed, long? BehindSince)
    {
        public Record With(bool isMiss, TimeProvider time)
        {
            var weight = Asked >= Halved ? 0.5 : 1;
            var (asked, missed) = ((Asked * weight) + 1, (Missed * weight) + (isMiss ? 1 : 0));
            var share = missed / asked;
            var since = BehindSince is { } before && time.GetElapsedTime(before) < StaysBehind ? BehindSince : null;
            if (since is null && asked >= FewestAsked && share >= GoesBehind)
                since = time.GetTimestamp();
            else if (share < ComesBack)
                since = null;
            return new Record(asked, missed, since);
        }
    }
}
