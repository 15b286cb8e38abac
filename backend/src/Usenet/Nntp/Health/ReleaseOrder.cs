using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Health;

/// <summary>
/// Learns for each release which providers lack much of it: one that missed 30 % of at least four asked articles goes behind the
/// others for half an hour, or until it misses less than 12 %. That changes whom is asked first, never a verdict.
/// </summary>
/// <remarks>Thread-safe. Bounded: the release that was learned about first makes room for a new one.</remarks>
internal sealed class ReleaseOrder(TimeProvider time)
{
    private const int MostReleases = 1024;
    private const int FewestAsked = 4;
    private const double GoesBehind = 0.30;
    private const double ComesBack = 0.12;

    // Older answers count half each time this many have come.
    private const int Halved = 64;
    private static readonly TimeSpan StaysBehind = TimeSpan.FromMinutes(30);

    private readonly Lock _gate = new();

    // Of each release the records of its providers, under the lock too. A release is set once, when it is first missed, and keeps that age.
    private readonly AgingMap<object, Dictionary<Guid, Record>> _releases = new(MostReleases, TimeSpan.MaxValue, time);

    /// <summary>Providers that are asked after the others for articles of a release.</summary>
    /// <param name="release">Its key; null for none.</param>
    /// <param name="providers">Ids of the providers of one pool, by index.</param>
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

    /// <summary>A provider has delivered an article of a release, or has said that it does not have it.</summary>
    public void Answered(object? release, Guid provider, bool isMiss)
    {
        if (release is null)
            return;
        lock (_gate)
        {
            // What is complete everywhere needs no record.
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
