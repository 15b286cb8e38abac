using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.Library;

/// <summary>Media facts from a file's header. Each is null if the header does not contain it.</summary>
/// <param name="Duration">Duration in milliseconds.</param>
/// <param name="Width">Width of the first video track in pixels.</param>
/// <param name="Height">Height of the first video track in pixels.</param>
/// <param name="Video">Codec of the first video track, as in "HEVC 10-bit".</param>
/// <param name="Audio">Codec of the first audio track, as in "E-AC-3 5.1".</param>
internal sealed record MediaFacts(long? Duration, int? Width, int? Height, string? Video, string? Audio)
{
    /// <summary>Summarizes tracks. Null if the header could not be parsed.</summary>
    public static MediaFacts? Of(MediaTracks tracks)
    {
        if (tracks.Verdict != TracksVerdict.Known)
            return null;
        var video = tracks.Tracks.FirstOrDefault(static track => track.Kind == TrackKind.Video);
        var audio = tracks.Tracks.FirstOrDefault(static track => track.Kind == TrackKind.Audio);
        return new MediaFacts((long?)tracks.Duration?.TotalMilliseconds, video?.Width, video?.Height, video?.Codec, audio?.Codec);
    }
}

/// <summary>Reads and writes <c>file_media</c>.</summary>
internal sealed class MediaStore(SluiceDatabase database)
{
    /// <summary>Finds media facts by file; omits files without facts. Runs in the caller's transaction.</summary>
    public static Dictionary<Guid, MediaFacts> Find(DbConnection connection, IEnumerable<Guid> files) =>
        connection.Query<MediaRow>(
                $"""
                SELECT file_id AS FileId, duration AS Duration, width AS Width, height AS Height, video AS Video, audio AS Audio
                FROM file_media WHERE {SqlDialect.In("file_id", "@list")}
                """,
                new { list = SqlDialect.List([.. files.Select(id => id.ToString("D"))]) })
            .ToDictionary(row => Guid.Parse(row.FileId), row => new MediaFacts(row.Duration, (int?)row.Width, (int?)row.Height, row.Video, row.Audio));

    public Task<MediaFacts?> FindAsync(Guid file, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => Find(connection, [file]).GetValueOrDefault(file), cancellationToken);

    /// <summary>Stores the media facts of a file that is still in the library. Known facts stay, because a file never changes.</summary>
    public Task KeepAsync(Guid file, MediaFacts facts, CancellationToken cancellationToken) => database.WriteAsync(
        connection => connection.Execute(
            """
            INSERT INTO file_media (file_id, duration, width, height, video, audio)
            SELECT id, @Duration, @Width, @Height, @Video, @Audio FROM library_file WHERE id = @file
            ON CONFLICT (file_id) DO NOTHING
            """,
            new { file = file.ToString("D"), facts.Duration, facts.Width, facts.Height, facts.Video, facts.Audio }),
        cancellationToken);

    internal sealed record MediaRow
    {
        public required string FileId { get; init; }
        public long? Duration { get; init; }
        public long? Width { get; init; }
        public long? Height { get; init; }
        public string? Video { get; init; }
        public string? Audio { get; init; }
    }
}
