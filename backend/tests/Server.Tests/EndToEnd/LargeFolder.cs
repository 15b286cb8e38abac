using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A release written into the library without an import or an NZB, to measure costs that do not depend on articles.</summary>
internal static class LargeFolder
{
    /// <summary>Path of the folder.</summary>
    public const string Path = "content/tv/Large/";

    private const int SegmentBytes = 716_800;
    private const int Segments = 1024;
    private const long FileBytes = (long)SegmentBytes * Segments;

    /// <summary>Adds a release of episodes to the database of a running server.</summary>
    /// <param name="data">The data folder of the server.</param>
    /// <param name="files">Number of episodes.</param>
    /// <returns>The path of one episode.</returns>
    public static async Task<string> AddAsync(string data, int files)
    {
        await using var connection = new SqliteConnection($"Data Source={System.IO.Path.Combine(data, "sluice.db")};Pooling=False");
        await connection.OpenAsync();
        using var work = new SqliteWork(connection, writes: true);
        var posted = new StoredPostedFile(0, SegmentPlaces.Range(0, Segments), SegmentMap.Uniform(Segments, SegmentBytes, FileBytes));
        LibraryStore.Insert(
            connection,
            new NewRelease("tv", "Large", new string('a', 64), [posted], [.. Enumerable.Range(0, files).Select(Episode)]),
            new DateTimeOffset(2026, 1, 3, 10, 0, 0, TimeSpan.Zero));
        work.Commit();
        return Path + NameOf(files / 2);
    }

    private static NewLibraryFile Episode(int number) => new(
        Guid.NewGuid(), NameOf(number), null, FileBytes, Guid.NewGuid().ToString("N"), new FileContent([new ContentExtent(0, 0, FileBytes)]));

    private static string NameOf(int episode) =>
        string.Create(System.Globalization.CultureInfo.InvariantCulture, $"The.Show.S01E{episode:00000}.1080p.WEB.h264-GRP.mkv");
}
