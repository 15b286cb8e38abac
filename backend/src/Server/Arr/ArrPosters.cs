using System.Text.Json.Nodes;

namespace Sluice.Server.Arr;

/// <summary>Fetches posters from the programs that imported a download, found by each program's history (<c>downloadId</c>). Changes nothing.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ArrPosters(ArrStore store, ArrClient client)
{
    // The smallest size that Sonarr and Radarr keep: 250 pixels wide.
    private const string SmallPoster = "poster-250.jpg";

    /// <summary>Whether any connected program has posters.</summary>
    public bool CanAsk => Programs.Any();

    // The other kinds use a different API, and have covers of albums and books.
    private IEnumerable<ArrServer> Programs => store.Enabled.Where(server => server.Kind is ArrKind.Sonarr or ArrKind.Radarr or ArrKind.Whisparr);

    /// <summary>Fetches the poster for a download. Empty if no program imported the download, or the poster is too long.</summary>
    /// <param name="download">The program's id of its download.</param>
    /// <exception cref="ArrException">A program cannot be asked, so the result is unknown.</exception>
    public async Task<ReadOnlyMemory<byte>> FindAsync(string download, int maxBytes, CancellationToken cancellationToken)
    {
        foreach (var server in Programs)
        {
            var page = await client.GetAsync(server, $"history?page=1&pageSize=50&downloadId={Uri.EscapeDataString(download)}", cancellationToken) as JsonObject;
            var imported = (page?["records"] as JsonArray ?? []).OfType<JsonObject>().FirstOrDefault(record => IsImport(record, download));
            if (imported is null || (IdOf(imported, "movieId") ?? IdOf(imported, "seriesId")) is not { } title)
                continue;
            if (await client.GetBytesAsync(server, $"mediacover/{title}/{SmallPoster}", maxBytes, cancellationToken) is { Length: > 0 } poster)
                return poster;
        }

        return default;
    }

    // The event is "downloadFolderImported" in Sonarr and Radarr. Older versions ignore the filter and list all downloads.
    private static bool IsImport(JsonObject record, string download) =>
        ArrJson.Text(record["eventType"]).EndsWith("Imported", StringComparison.OrdinalIgnoreCase)
        && ArrJson.Text(record["downloadId"]).Equals(download, StringComparison.OrdinalIgnoreCase);

    private static int? IdOf(JsonObject record, string name) => record[name] is JsonValue value && value.TryGetValue<int>(out var id) && id > 0 ? id : null;
}
