using System.Text.Json.Nodes;

namespace Sluice.Server.Arr;

/// <summary>How many of some downloads one program has imported.</summary>
/// <param name="Name">Name of the program, as set by the user.</param>
/// <param name="Imported">Number of downloads from which the program has imported files.</param>
/// <param name="Failure">Why the program could not be asked, as a sentence; null if it responded.</param>
internal sealed record ArrImport(string Name, int Imported, string? Failure);

/// <summary>Asks the saved programs which downloads they have imported, using each program's history (<c>downloadId</c>). Changes nothing.</summary>
internal sealed class ArrImports(ArrStore store, ArrClient client, TimeProvider time)
{
    /// <summary>Maximum downloads to ask about, because each requires a call to each program.</summary>
    public const int MostDownloads = 10;

    // A dialog waits for the result, so an unreachable program must not delay it longer.
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(3);

    /// <summary>Asks all enabled programs at the same time. A program that does not respond in time is listed with its failure.</summary>
    /// <param name="downloads">The programs' ids of their downloads. Only the first <see cref="MostDownloads"/> are queried.</param>
    public async Task<IReadOnlyList<ArrImport>> FindAsync(IReadOnlyList<string> downloads, CancellationToken cancellationToken)
    {
        if (downloads.Count == 0)
            return [];
        using var deadline = new CancellationTokenSource(Deadline, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
        return await Task.WhenAll(store.Enabled.Select(server => FindAsync(server, [.. downloads.Take(MostDownloads)], either.Token, cancellationToken)));
    }

    private async Task<ArrImport> FindAsync(ArrServer server, IReadOnlyList<string> downloads, CancellationToken either, CancellationToken cancellationToken)
    {
        var imported = 0;
        try
        {
            foreach (var download in downloads)
            {
                var page = await client.GetAsync(server, $"history?page=1&pageSize=50&downloadId={Uri.EscapeDataString(download)}", either) as JsonObject;
                imported += (page?["records"] as JsonArray ?? []).OfType<JsonObject>().Any(record => IsImport(record, download)) ? 1 : 0;
            }

            return new ArrImport(server.Name, imported, null);
        }
        catch (ArrException e)
        {
            return new ArrImport(server.Name, imported, e.Message);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return new ArrImport(server.Name, imported, $"{server.Name} did not answer in time.");
        }
    }

    // Sonarr and Radarr say "downloadFolderImported", Lidarr "trackFileImported", Readarr "bookFileImported".
    private static bool IsImport(JsonObject record, string download) =>
        ArrJson.Text(record["eventType"]).EndsWith("Imported", StringComparison.OrdinalIgnoreCase)
        && ArrJson.Text(record["downloadId"]).Equals(download, StringComparison.OrdinalIgnoreCase);
}
