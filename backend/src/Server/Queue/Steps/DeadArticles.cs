using System.Data.Common;
using System.Security.Cryptography;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Steps;

/// <summary>Remembers articles whose absence failed an import (IMP-63). An entry is valid only if all current providers lacked the article.</summary>
internal sealed class DeadArticles(SluiceDatabase database, ProviderHost providers, TimeProvider time)
{
    public static readonly TimeSpan Retention = TimeSpan.FromDays(90);

    /// <summary>Minimum age of a post, because a younger one may still be propagating between providers.</summary>
    public static readonly TimeSpan LeastAge = TimeSpan.FromHours(24);

    public const int MaxArticles = 1_000_000;

    /// <summary>Maximum entries per import; more entries would not help to recognize the post.</summary>
    public const int MaxPerPost = 1000;

    private const int KeyBytes = 16;

    /// <summary>Returns a shortened hash of the message-id.</summary>
    public static string KeyOf(MessageId id) => Convert.ToHexStringLower(SHA256.HashData(id.Bytes).AsSpan(0, KeyBytes));

    /// <summary>Whether any article is remembered. If none is, callers can skip the queries.</summary>
    public Task<bool> AnyAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM dead_post)"), cancellationToken);

    /// <summary>Whether a release would fail again, because an essential article or a tenth of its sample is known to be missing.</summary>
    public async Task<bool> CoverAsync(IReadOnlyList<PostedEntry> payload, ReleaseUse release, CancellationToken cancellationToken)
    {
        // Only essential articles are remembered, so a single match suffices, whichever file it is in.
        var ends = payload.OrderByDescending(file => file.Segments).Take(MaxPerPost / 2)
            .SelectMany(file => new[] { file.FirstSegment, file.FirstSegment + file.Segments - 1 });
        var endKeys = await KeysAsync(release, ends, cancellationToken);
        var sampleKeys = await KeysAsync(release, SegmentSample.Pick(payload, AvailabilitySample.MaxArticles), cancellationToken);
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

    private async Task<IReadOnlySet<string>> FindAsync(IReadOnlyCollection<string> keys, CancellationToken cancellationToken)
    {
        var least = (time.WallTime() - Retention).ToUnixTimeMilliseconds();
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

    /// <summary>Remembers articles of a failed import, in the caller's transaction.</summary>
    /// <param name="keys">Results of <see cref="KeyOf"/>. Keys after the first <see cref="MaxPerPost"/> are dropped.</param>
    public void Remember(DbConnection connection, IReadOnlyCollection<string> keys)
    {
        var now = time.WallTime();
        List<string> kept = [.. keys.Take(MaxPerPost)];
        connection.Execute("DELETE FROM dead_post WHERE failed_at < @least", new { least = (now - Retention).ToUnixTimeMilliseconds() });
        var post = connection.ExecuteScalar<long>(
            "INSERT INTO dead_post (providers, articles, failed_at) VALUES (@providers, @articles, @at) RETURNING id",
            new { providers = string.Join(' ', ProvidersInUse().Order(StringComparer.Ordinal)), articles = kept.Count, at = now.ToUnixTimeMilliseconds() });
        foreach (var key in kept)
        {
            connection.Execute(
                "INSERT INTO dead_article (key, post) VALUES (@key, @post) ON CONFLICT (key) DO UPDATE SET post = excluded.post", new { key, post });
        }

        while (connection.ExecuteScalar<long>("SELECT coalesce(sum(articles), 0) FROM dead_post") > MaxArticles)
            connection.Execute("DELETE FROM dead_post WHERE id = (SELECT min(id) FROM dead_post)");
    }

    private IEnumerable<string> ProvidersInUse() => Enumerable.Range(0, providers.ProviderCount).Select(i => providers.ProviderId(i).ToString());

    /// <summary>A missing article and the providers that were asked.</summary>
    internal sealed record DeadRow
    {
        public required string Key { get; init; }
        public required string Providers { get; init; }
    }
}
