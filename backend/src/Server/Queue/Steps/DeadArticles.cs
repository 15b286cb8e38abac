using System.Data.Common;
using System.Security.Cryptography;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Articles for whose sake an import has failed, because they were gone from all providers (IMP-63). They are known to be gone as long as no
/// provider is used that was not asked then.
/// </summary>
internal sealed class DeadArticles(SluiceDatabase database, ProviderHost providers, TimeProvider time)
{
    /// <summary>How long they are remembered.</summary>
    public static readonly TimeSpan Keep = TimeSpan.FromDays(90);

    /// <summary>A post that is younger may still be on its way to a provider.</summary>
    public static readonly TimeSpan LeastAge = TimeSpan.FromHours(24);

    /// <summary>Most articles that are remembered.</summary>
    public const int Most = 1_000_000;

    /// <summary>Most articles that one import adds: more tell no more.</summary>
    public const int MostOfPost = 1000;

    private const int KeyBytes = 16;

    /// <summary>What stands for an article.</summary>
    public static string KeyOf(MessageId id) => Convert.ToHexStringLower(SHA256.HashData(id.Bytes).AsSpan(0, KeyBytes));

    /// <summary>Whether anything is remembered, so that it is worth asking.</summary>
    public Task<bool> AnyAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM dead_post)"), cancellationToken);

    /// <summary>Whether a release would fail again: an article that it cannot do without is known to be gone, or a tenth of its sample is.</summary>
    /// <param name="payload">Its files.</param>
    /// <param name="release">Its message-ids.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public async Task<bool> CoverAsync(IReadOnlyList<PostedEntry> payload, ReleaseUse release, CancellationToken cancellationToken)
    {
        // Only such as a release could not do without were ever remembered, so that it does not matter which of its files this one is.
        var ends = payload.OrderByDescending(file => file.Segments).Take(MostOfPost / 2)
            .SelectMany(file => new[] { file.FirstSegment, file.FirstSegment + file.Segments - 1 });
        var endKeys = await KeysAsync(release, ends, cancellationToken);
        var sampleKeys = await KeysAsync(release, SegmentSample.Pick(payload, AvailabilitySample.Most), cancellationToken);
        var known = await FindAsync([.. endKeys.Union(sampleKeys)], cancellationToken);
        return endKeys.Any(known.Contains) || sampleKeys.Count(known.Contains) * 10 > sampleKeys.Count;
    }

    private static async Task<List<string>> KeysAsync(ReleaseUse release, IEnumerable<int> places, CancellationToken cancellationToken)
    {
        var keys = new List<string>();
        foreach (var place in places.Distinct())
        {
            var ids = await release.Take(SegmentPlaces.Range(place, 1)).GetAsync(0, cancellationToken);
            if (!ids.Primary.IsEmpty)
                keys.Add(KeyOf(ids.Primary));
        }

        return keys;
    }

    /// <summary>Which articles of a list are known to be gone.</summary>
    private async Task<IReadOnlySet<string>> FindAsync(IReadOnlyCollection<string> keys, CancellationToken cancellationToken)
    {
        var least = (time.WallTime() - Keep).ToUnixTimeMilliseconds();
        var rows = await database.ReadAsync(
            connection => (List<DeadRow>)[.. connection.Query<DeadRow>(
                $"""
                SELECT key AS Key, providers AS Providers FROM dead_article JOIN dead_post ON id = post
                WHERE {SqlDialect.In("key", "@list")} AND failed_at >= @least
                """,
                new { list = SqlDialect.List(keys), least })],
            cancellationToken);
        var used = ProvidersInUse().ToList();
        return rows.Where(row => used.TrueForAll(row.Providers.Split(' ').Contains)).Select(row => row.Key).ToHashSet(StringComparer.Ordinal);
    }

    /// <summary>Remembers the articles of an import that has failed, as part of the caller's transaction.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="keys">By <see cref="KeyOf"/>; those beyond <see cref="MostOfPost"/> are left out.</param>
    public void Remember(DbConnection connection, IReadOnlyCollection<string> keys)
    {
        var now = time.WallTime();
        List<string> kept = [.. keys.Take(MostOfPost)];
        connection.Execute("DELETE FROM dead_post WHERE failed_at < @least", new { least = (now - Keep).ToUnixTimeMilliseconds() });
        var post = connection.ExecuteScalar<long>(
            "INSERT INTO dead_post (providers, articles, failed_at) VALUES (@providers, @articles, @at) RETURNING id",
            new { providers = string.Join(' ', ProvidersInUse().Order(StringComparer.Ordinal)), articles = kept.Count, at = now.ToUnixTimeMilliseconds() });
        foreach (var key in kept)
        {
            connection.Execute(
                "INSERT INTO dead_article (key, post) VALUES (@key, @post) ON CONFLICT (key) DO UPDATE SET post = excluded.post", new { key, post });
        }

        while (connection.ExecuteScalar<long>("SELECT coalesce(sum(articles), 0) FROM dead_post") > Most)
            connection.Execute("DELETE FROM dead_post WHERE id = (SELECT min(id) FROM dead_post)");
    }

    private IEnumerable<string> ProvidersInUse() => Enumerable.Range(0, providers.ProviderCount).Select(i => providers.ProviderId(i).ToString());

    /// <summary>An article with the providers that were asked for it.</summary>
    internal sealed record DeadRow
    {
        public required string Key { get; init; }
        public required string Providers { get; init; }
    }
}
