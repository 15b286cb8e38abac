using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Measures the calls for a queue of 10,000 items (SAB-6). Run with <c>-showLiveOutput</c>; the times are not asserted.</summary>
public sealed class LargeQueueTests : IDisposable
{
    private const int Items = 10_000;
    private const int Rounds = 200;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public async Task Queue_of_10000_items_answers_every_call()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        await host.CallAsync("mode=pause", Token);
        await host.Get<SluiceDatabase>().InsertAsync(QueueStore.Insert, Enumerable.Range(0, Items).Select(Item));

        await MeasureAsync(host, "first page", "mode=queue&start=0&limit=100", 100);
        await MeasureAsync(host, "page in the middle", "mode=queue&start=5000&limit=100", 100);
        await MeasureAsync(host, "last page", "mode=queue&start=9900&limit=100", 100);
        await MeasureAsync(host, "page of a category", "mode=queue&start=1000&limit=100&category=tv", 100);
        await MeasureAsync(host, "page of a search", "mode=queue&start=0&limit=100&search=release%2009", 100);
        await MeasureAsync(host, "page of a state", "mode=queue&start=5000&limit=100&status=Queued", 100);
        await MeasureAsync(host, "whole list", "mode=queue", Items);
        await MeasureAsync(host, "priority", $"mode=queue&name=priority&value={Id(5000)}&value2={{0}}", null);
        await MeasureAsync(host, "switch to the front", $"mode=switch&value={Id(9999)}&value2={{1}}", null);
        await MeasureAsync(host, "sort by name", "mode=queue&name=sort&sort=name&dir={2}", null);
    }

    /// <summary>Measures the time to the first and to the last byte of a call.</summary>
    private static async Task MeasureAsync(ProductHost host, string what, string call, int? slots)
    {
        var (first, last) = (new List<double>(), new List<double>());
        for (var i = 0; i < Rounds; i++)
        {
            var query = call.Replace("{0}", i % 2 == 0 ? "1" : "0", StringComparison.Ordinal)
                .Replace("{1}", i % 2 == 0 ? "0" : "9000", StringComparison.Ordinal)
                .Replace("{2}", i % 2 == 0 ? "desc" : "asc", StringComparison.Ordinal);
            var began = Stopwatch.GetTimestamp();
            using var answer = await host.Client.GetAsync(
                new Uri($"/api?apikey={ProductHost.Key}&{query}", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, Token);
            await using var body = await answer.Content.ReadAsStreamAsync(Token);
            using var text = new MemoryStream();
            text.WriteByte((byte)body.ReadByte());
            first.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
            await body.CopyToAsync(text, Token);
            last.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
            if (slots is { } count && i == 0)
                Assert.Equal(count, JsonDocument.Parse(text.ToArray()).RootElement.GetProperty("queue").GetProperty("slots").GetArrayLength());
        }

        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{what}: first byte p50 {At(first, 0.5):0.0} p95 {At(first, 0.95):0.0} ms, whole p50 {At(last, 0.5):0.0} p95 {At(last, 0.95):0.0} ms"));
    }

    private static double At(List<double> times, double share) => times.Order().ElementAt((int)(share * (times.Count - 1)));

    private static string Id(int number) => string.Create(CultureInfo.InvariantCulture, $"SABnzbd_nzo_{number:x32}");

    private static QueueItem Item(int number) => new()
    {
        Id = Id(number),
        Name = string.Create(CultureInfo.InvariantCulture, $"Some.Long.Name.Of.A.Release {number:00000}.2026.1080p.WEB.H264-GROUP"),
        NzbName = string.Create(CultureInfo.InvariantCulture, $"Some.Long.Name.Of.A.Release {number:00000}.2026.1080p.WEB.H264-GROUP.nzb"),
        Category = number % 3 == 0 ? "tv" : "movies",
        Folder = number % 3 == 0 ? "tv" : "movies",
        NzbHash = number.ToString("x64", CultureInfo.InvariantCulture),
        EncodedBytes = 8_000_000_000 + number,
        AddedAt = DateTimeOffset.FromUnixTimeSeconds(1767434400 + number),
    };
}
