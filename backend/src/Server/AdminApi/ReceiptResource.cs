using System.Globalization;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Usenet.Media.Titles;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/receipts</c>: what playbacks and library scans cost (OPS-43).</summary>
internal static class ReceiptResource
{
    private enum ReceiptOrder
    {
        Newest,
    }

    public static void MapReceipts(this RouteGroupBuilder api)
    {
        var receipts = api.MapGroup("/receipts");
        receipts.MapGet("", ListAsync).WithName("ListReceipts");
        receipts.MapGet("/sums", SumAsync).WithName("SumReceipts");
    }

    private static async Task<Results<Ok<ReceiptPage>, JsonHttpResult<Problem>>> ListAsync(
        string? cursor, int? limit, string? from, string? to, string? file, string? login,
        ReceiptStore store, PlaybackRegistry playbacks, ProviderHost providers, TimeProvider time, CancellationToken cancellationToken)
    {
        var read = new ListReader();
        var (after, most) = (read.Place(ReceiptOrder.Newest, cursor), read.Limit(limit));
        var query = QueryOf(read, from, to, file, login, time);
        if (read.Problem is { } problem)
            return problem;
        var page = await store.ReadAsync(query, after, most, cancellationToken);
        var names = NamesOf(providers);
        var open = playbacks.List().Select(static played => played.Id).ToHashSet();
        return TypedResults.Ok(new ReceiptPage(
            [.. page.Items.Select(receipt => RowOf(receipt, open.Contains(receipt.Id), names))], ListReader.CursorOf(ReceiptOrder.Newest, page.Next), page.Total));
    }

    private static async Task<Results<Ok<ReceiptSums>, JsonHttpResult<Problem>>> SumAsync(
        string? by, string? from, string? to, string? file, string? login,
        ReceiptStore store, ProviderHost providers, TimeProvider time, CancellationToken cancellationToken)
    {
        var read = new ListReader();
        var group = read.Word<ReceiptGroup>("by", by) ?? ReceiptGroup.Provider;
        var query = QueryOf(read, from, to, file, login, time);
        if (read.Problem is { } problem)
            return problem;
        var sums = group == ReceiptGroup.Month ? await store.SumByMonthAsync(query, cancellationToken) : await store.SumByProviderAsync(query, cancellationToken);
        var names = NamesOf(providers);
        return TypedResults.Ok(new ReceiptSums(
        [
            .. sums.Select(sum => new ReceiptSumRow(
                sum.Key,
                Guid.TryParse(sum.Key, out var provider) ? names.GetValueOrDefault(provider) : null,
                sum.Playbacks,
                sum.Playback,
                sum.Scans)),
        ]));
    }

    private static Dictionary<Guid, string> NamesOf(ProviderHost providers) =>
        providers.Providers.ToDictionary(static provider => provider.Options.Id, static provider => provider.Options.Name);

    private static ReceiptRow RowOf(Receipt receipt, bool isOpen, Dictionary<Guid, string> names) => new(
        receipt.Id,
        receipt.IsScan ? ReceiptKind.Scan : ReceiptKind.Playback,
        isOpen,
        receipt.StartedAt,
        receipt.EndedAt,
        FileOf(receipt),
        receipt.Login,
        receipt.Client,
        receipt.Player,
        receipt.Files,
        receipt.Sent,
        receipt.Bytes.Memory,
        receipt.Bytes.Disk,
        receipt.Bytes.Received,
        [
            .. receipt.Bytes.Providers
                .OrderByDescending(static share => share.Value)
                .Select(share => new ReceiptShare(share.Key.ToString("D", CultureInfo.InvariantCulture), names.GetValueOrDefault(share.Key), share.Value)),
        ],
        receipt.Waits.Count,
        receipt.Waits.TotalMs,
        receipt.Waits.LongestMs,
        receipt.Gaps,
        receipt.Seeks,
        receipt.FirstByteMs);

    private static ReceiptFile? FileOf(Receipt receipt)
    {
        if (receipt.File is not { } id)
            return null;
        // The path is category, release and the file inside it. The built-in clip has no release.
        var parts = receipt.Path.Split('/', 3);
        var title = parts.Length == 3 ? new ReleaseFacts(ReleaseTitle.Parse(parts[1]), 0, 0).TitleOf(parts[2]) : ReleaseTitle.Parse(parts[^1]);
        return new ReceiptFile(id.ToString("D", CultureInfo.InvariantCulture), receipt.Path[(receipt.Path.LastIndexOf('/') + 1)..], receipt.Path, FilmTitle.Of(title));
    }

    private static ReceiptQuery QueryOf(ListReader read, string? from, string? to, string? file, string? login, TimeProvider time) => new(
        read.Time("from", from, time.LocalTimeZone),
        read.Time("to", to, time.LocalTimeZone),
        read.Id("file", file),
        string.IsNullOrEmpty(login) ? null : login);
}
