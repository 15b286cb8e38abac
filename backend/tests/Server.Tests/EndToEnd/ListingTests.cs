using System.Diagnostics;
using System.Text;
using System.Xml.Linq;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A folder of 10,000 files is listed without delay and in constant memory (DAV-53, F29).</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed class ListingTests
{
    private const int Entries = 10_000;
    private const int Rounds = 8;
    private const int BytesPerEntry = 340;
    private const long Growth = 8L << 20;

    /// <summary>The properties that rclone requests from a server of unknown vendor.</summary>
    private const string Rclone =
        "<?xml version=\"1.0\"?><d:propfind xmlns:d=\"DAV:\"><d:prop><d:displayname/><d:getlastmodified/><d:getcontentlength/><d:resourcetype/></d:prop></d:propfind>";

    [Fact]
    public async Task Listing_of_10000_entries_is_compact_in_constant_memory()
    {
        var cancel = TestContext.Current.CancellationToken;
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(folder.File("data"), null, cancel);
        await LargeFolder.AddAsync(folder.File("data"), Entries);
        using var client = new SluiceClient(server);
        // The first listings bring code, pools and the youngest generation of the heap to their final size.
        for (var round = 0; round < Rounds; round++)
        {
            using var first = await client.FindAsync(LargeFolder.Path, Rclone, cancel);
            await first.Content.ReadAsByteArrayAsync(cancel);
        }

        var before = server.ResidentBytes;

        var firstBytes = new List<TimeSpan>();
        for (var round = 0; round < Rounds; round++)
        {
            var clock = Stopwatch.StartNew();
            using var answer = await client.FindAsync(LargeFolder.Path, Rclone, cancel);
            await using var body = await answer.Content.ReadAsStreamAsync(cancel);
            var start = new byte[1];
            await body.ReadExactlyAsync(start, cancel);
            firstBytes.Add(clock.Elapsed);
            using var rest = new MemoryStream();
            await body.CopyToAsync(rest, cancel);

            var listing = XDocument.Parse(Encoding.UTF8.GetString([.. start, .. rest.ToArray()]));
            var names = listing.Root!.Elements().Select(NameOf).ToList();
            Assert.Equal(Entries + 1, names.Count);
            Assert.InRange(rest.Length + 1, 1, names.Sum(name => BytesPerEntry + (2L * name.Length)));
        }

        Assert.InRange(server.ResidentBytes, 0, before + Growth);
        TestContext.Current.TestOutputHelper?.WriteLine(
            $"first byte: median {firstBytes.Order().ElementAt(Rounds / 2).TotalMilliseconds:F1} ms, worst {firstBytes.Max().TotalMilliseconds:F1} ms; "
            + $"memory {before >> 20} MiB, then {server.ResidentBytes >> 20} MiB");
    }

    /// <summary>Returns the last segment of the path of an entry, encoded.</summary>
    private static string NameOf(XElement response) =>
        response.Element(XName.Get("href", "DAV:"))!.Value.TrimEnd('/').Split('/')[^1];
}
