using System.IO.Compression;
using System.Net;
using System.Text.Json;
using System.Xml.Linq;
using Microsoft.Data.Sqlite;
using Sluice.Server.Tests.EndToEnd;
using Xunit.Sdk;

namespace Sluice.Server.Tests.Kills;

/// <summary>
/// Compares a running server, from outside, with the answers that its clients got: no acknowledged item is lost or doubled, no visible
/// release is incomplete, and the database is sound. No client may change anything meanwhile; imports continue.
/// </summary>
internal sealed class LedgerCheck(ItemLedger ledger, string data, SluiceClient client)
{
    private const string Folder = "content/movies";

    private readonly List<string> _violations = [];

    /// <summary>Runs the check.</summary>
    /// <returns>One sentence for each violation.</returns>
    public async Task<IReadOnlyList<string>> RunAsync(CancellationToken cancel)
    {
        // Items move from the queue to the history meanwhile: an item in the history must have left the later queue, any other item must be in
        // the earlier queue. A release visible before must be in the history, a completed item must be visible after.
        var visibleBefore = await VisibleAsync(cancel);
        var before = await QueueAsync(cancel);
        var history = await client.HistoryAsync(cancel);
        var after = await QueueAsync(cancel);
        var visibleAfter = await VisibleAsync(cancel);

        foreach (var item in ledger.Items)
            CheckPlaces(item, before, history, after);
        CheckStrangers([.. before.Concat(after).Select(slot => (slot.Id, slot.Name)), .. history.Select(entry => (entry.Id, entry.Name))]);

        var completed = history.Where(entry => entry.Status == "Completed").Select(entry => entry.Name).ToHashSet();
        var forgotten = ledger.Items.Where(item => item.IsForgotten).Select(item => item.Name).ToHashSet();
        _violations.AddRange(visibleBefore.Except(completed).Except(forgotten).Select(name => $"{name} is visible and not in the history."));
        _violations.AddRange(forgotten.Except(visibleAfter).Select(name => $"{name} is no longer visible since its history item was removed."));
        _violations.AddRange(completed.Except(visibleAfter).Select(name => $"{name} is completed and not visible."));
        foreach (var item in completed.Concat(forgotten).Intersect(visibleAfter).Select(ledger.Find).OfType<LedgerItem>().Where(item => !item.IsRead))
            await CheckFilmAsync(item, cancel);
        // The NZB of an item that is still being fetched is not stored yet.
        foreach (var item in after.Where(slot => slot.Status != "Grabbing").Select(slot => ledger.Find(slot.Name)).OfType<LedgerItem>().Where(item => item is { Told: Told.Kept, IsStored: false }))
            await CheckStoredAsync(item, cancel);
        await CheckDatabaseAsync(cancel);
        return _violations;
    }

    private void CheckPlaces(
        LedgerItem item, IReadOnlyList<QueuedSlot> before, IReadOnlyList<HistoryEntry> history, IReadOnlyList<QueuedSlot> after)
    {
        var finished = history.Where(entry => entry.Name == item.Name).Select(entry => entry.Id).ToList();
        var queued = (finished.Count > 0 ? after : before).Where(slot => slot.Name == item.Name).Select(slot => slot.Id).ToList();
        var places = $"{item.Name} is {queued.Count} times in the queue and {finished.Count} times in the history";
        switch (item.Told, queued.Count + finished.Count)
        {
            case (_, > 1):
                _violations.Add($"{places}: doubled.");
                break;
            case (Told.Kept, 0):
                _violations.Add($"{places}: lost.");
                break;
            case (Told.Removed, 1):
                _violations.Add($"{places}: removed, and there again.");
                break;
            case (_, 1) when item.Id is { } id && !queued.Concat(finished).Contains(id):
                _violations.Add($"{places}: under another id.");
                break;
            case (_, 1) when item.Film is null && finished.Count == 1 && history.Any(entry => entry.Name == item.Name && entry.Status != "Failed"):
                _violations.Add($"{places}: completed without a film.");
                break;
        }
    }

    private void CheckStrangers(IReadOnlyList<(string Id, string Name)> found) =>
        _violations.AddRange(found.Where(entry => ledger.Find(entry.Name) is null).Distinct().Select(entry => $"{entry.Name} is there and was never added."));

    private async Task CheckFilmAsync(LedgerItem item, CancellationToken cancel)
    {
        if (item.Film is not { } film)
            return;
        try
        {
            var bytes = await client.GetAsync($"{Folder}/{item.Name}/film.mkv", cancel);
            item.IsRead = bytes.Length == film.Size && bytes.AsSpan().SequenceEqual(film.Truth(0, bytes.Length));
            if (!item.IsRead)
                _violations.Add($"{item.Name} reads as other bytes.");
        }
        catch (Exception e) when (e is XunitException or HttpRequestException or IOException)
        {
            _violations.Add($"{item.Name} is visible and does not read whole: {e.Message}");
        }
    }

    private async Task CheckStoredAsync(LedgerItem item, CancellationToken cancel)
    {
        try
        {
            await using var file = File.OpenRead(Path.Combine(data, "blobs", SluiceClient.Sha256(item.Nzb) + ".nzb.br"));
            await using var plain = new BrotliStream(file, CompressionMode.Decompress);
            using var copy = new MemoryStream();
            await plain.CopyToAsync(copy, cancel);
            item.IsStored = copy.ToArray().AsSpan().SequenceEqual(item.Nzb);
            if (!item.IsStored)
                _violations.Add($"{item.Name} is stored as other bytes.");
        }
        catch (Exception e) when (e is IOException or InvalidDataException)
        {
            _violations.Add($"{item.Name} is queued and not stored: {e.Message}");
        }
    }

    private async Task CheckDatabaseAsync(CancellationToken cancel)
    {
        await using var connection = new SqliteConnection($"Data Source={Path.Combine(data, "sluice.db")};Mode=ReadOnly;Pooling=False");
        await connection.OpenAsync(cancel);
        await using var command = connection.CreateCommand();
        command.CommandText = "PRAGMA integrity_check";
        if (await command.ExecuteScalarAsync(cancel) is not "ok" and var found)
            _violations.Add($"The database is damaged: {found}");
    }

    private async Task<IReadOnlyList<QueuedSlot>> QueueAsync(CancellationToken cancel)
    {
        using var json = await client.CallAsync("mode=queue&limit=0", cancel);
        return [.. json.RootElement.GetProperty("queue").GetProperty("slots").EnumerateArray().Select(slot => new QueuedSlot(Text(slot, "nzo_id"), Text(slot, "filename"), Text(slot, "status")))];
    }

    /// <summary>Returns the releases of the category from a listing, as a mount requests it.</summary>
    private async Task<IReadOnlyList<string>> VisibleAsync(CancellationToken cancel) =>
        (await ListAsync("content", cancel)).Contains("movies") ? await ListAsync(Folder, cancel) : [];

    private async Task<IReadOnlyList<string>> ListAsync(string path, CancellationToken cancel)
    {
        using var answer = await client.FindAsync(path, "", cancel);
        var hrefs = XDocument.Parse(await answer.Content.ReadAsStringAsync(cancel)).Descendants(XName.Get("href", "DAV:"));
        // Skips the entry of the folder itself.
        return [.. hrefs.Skip(1).Select(href => WebUtility.UrlDecode(href.Value.TrimEnd('/').Split('/')[^1]))];
    }

    private static string Text(JsonElement element, string name) => element.GetProperty(name).GetString()!;

    private sealed record QueuedSlot(string Id, string Name, string Status);
}
