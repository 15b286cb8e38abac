using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Rate of adding NZBs, next to the sync rate of the same disk (IMP-8). Printed and not asserted, because it depends on the disk.</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed class AddRateTests
{
    private const int Clients = 8;
    private static readonly TimeSpan Sync = TimeSpan.FromSeconds(5);

    [Theory]
    // 50 adds each second.
    [InlineData(100 << 10, 60, 50)]
    // As many adds as possible.
    [InlineData(100 << 10, 20, 0)]
    [InlineData(1 << 20, 20, 0)]
    public async Task IMP_8_Eight_clients_add_NZBs_and_none_is_lost(int bytes, int seconds, int perSecond)
    {
        var cancel = TestContext.Current.CancellationToken;
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(folder.File("data"), null, cancel);
        var (alone, together) = (await SyncsAsync(folder.File("one"), 1, cancel), await SyncsAsync(folder.File("many"), Clients, cancel));
        using var client = new SluiceClient(server);
        await client.AddFileAsync("tv&priority=-2", "first", Nzb(0, bytes), cancel);

        var (ids, took) = (new ConcurrentBag<string>(), new ConcurrentBag<double>());
        var (number, clock) = (0, Stopwatch.StartNew());
        await Task.WhenAll(Enumerable.Range(0, Clients).Select(_ => Task.Run(AddAsync, cancel)));
        var elapsed = clock.Elapsed.TotalSeconds;
        await Task.Delay(TimeSpan.FromSeconds(1), TimeProvider.System, cancel);

        Assert.Equal(ids.Count, ids.Distinct().Count());
        Assert.Equal(ids.Count + 1, (await client.QueueAsync(cancel)).Count);
        var times = took.Order().ToList();
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{bytes >> 10} KiB{(perSecond > 0 ? $" at {perSecond}/s" : "")}: {ids.Count} adds, {ids.Count / elapsed:F1}/s, median {times[times.Count / 2]:F1} ms, "
            + $"p95 {times[times.Count * 95 / 100]:F1} ms, worst {times[^1]:F1} ms; fsyncs of 4 KiB in the same folder: {alone:F0}/s by one writer, {together:F0}/s by {Clients}"));

        async Task AddAsync()
        {
            while (clock.Elapsed.TotalSeconds < seconds && !cancel.IsCancellationRequested)
            {
                var own = Interlocked.Increment(ref number);
                if (perSecond > 0)
                {
                    var due = TimeSpan.FromSeconds((double)own / perSecond) - clock.Elapsed;
                    if (due > TimeSpan.Zero)
                        await Task.Delay(due, TimeProvider.System, cancel);
                }

                var nzb = Nzb(own, bytes);
                var since = Stopwatch.GetTimestamp();
                ids.Add(await client.AddFileAsync("tv&priority=-2", $"Release {own}", nzb, cancel));
                took.Add(Stopwatch.GetElapsedTime(since).TotalMilliseconds);
            }
        }
    }

    /// <summary>Appends and syncs with several writers, each to its own file, and returns the rate.</summary>
    private static async Task<double> SyncsAsync(string folder, int writers, CancellationToken cancel)
    {
        Directory.CreateDirectory(folder);
        var (count, clock) = (0, Stopwatch.StartNew());
        await Task.WhenAll(Enumerable.Range(0, writers).Select(writer => Task.Run(
            () =>
            {
                var files = new DiskBlobFiles();
                using var file = files.Create(Path.Combine(folder, $"{writer}"));
                var bytes = new byte[4 << 10];
                Random.Shared.NextBytes(bytes);
                while (clock.Elapsed < Sync && !cancel.IsCancellationRequested)
                {
                    file.Write(bytes);
                    files.SyncFile(file);
                    Interlocked.Increment(ref count);
                }
            },
            cancel)));
        return count / clock.Elapsed.TotalSeconds;
    }

    /// <summary>Returns an NZB of a given length with unique message-ids.</summary>
    private static byte[] Nzb(int number, int bytes)
    {
        var random = new Random(number);
        var text = new StringBuilder("<nzb><file poster=\"p\" date=\"1795288940\" subject=\"&quot;a.mkv&quot; yEnc (1/1)\"><groups><group>a.b.t</group></groups><segments>\n");
        for (var part = 1; text.Length < bytes; part++)
            text.Append(CultureInfo.InvariantCulture, $"<segment bytes=\"716800\" number=\"{part}\">{random.NextInt64():x16}{random.NextInt64():x16}@test</segment>\n");
        return Encoding.UTF8.GetBytes(text.Append("</segments></file></nzb>").ToString());
    }
}
