using Microsoft.Data.Sqlite;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Releases that nobody imported: rows of the library, for what costs the same whatever the articles hold.</summary>
internal static class LargeFolder
{
    /// <summary>The folder with this many files.</summary>
    public const string Path = "content/tv/Large/";

    /// <summary>Adds a release of episodes to the database of a running server.</summary>
    /// <param name="data">The data folder of the server.</param>
    /// <param name="files">How many episodes.</param>
    /// <returns>The path of one of them.</returns>
    public static async Task<string> AddAsync(string data, int files)
    {
        await using var connection = new SqliteConnection($"Data Source={System.IO.Path.Combine(data, "sluice.db")};Pooling=False");
        await connection.OpenAsync();
        await using var transaction = connection.BeginTransaction();
        await using var release = connection.CreateCommand();
        release.CommandText =
            "INSERT INTO release (category, name, nzb_hash, published_at) VALUES ('tv', 'Large', @hash, 1767434400000) RETURNING id";
        release.Parameters.AddWithValue("@hash", new string('a', 64));
        var id = await release.ExecuteScalarAsync();

        await using var file = connection.CreateCommand();
        file.CommandText =
            "INSERT INTO library_file (id, release_id, path_key, length, etag, content) VALUES (@id, @release, @path, 734003200, @etag, x'00')";
        file.Parameters.AddWithValue("@release", id);
        var (key, path, tag) = (file.Parameters.Add("@id", SqliteType.Text), file.Parameters.Add("@path", SqliteType.Text), file.Parameters.Add("@etag", SqliteType.Text));
        for (var i = 0; i < files; i++)
        {
            key.Value = Guid.NewGuid().ToString("D");
            path.Value = NameOf(i);
            tag.Value = Guid.NewGuid().ToString("N");
            await file.ExecuteNonQueryAsync();
        }

        await transaction.CommitAsync();
        return Path + NameOf(files / 2);
    }

    private static string NameOf(int episode) =>
        string.Create(System.Globalization.CultureInfo.InvariantCulture, $"The.Show.S01E{episode:00000}.1080p.WEB.h264-GRP.mkv");
}
