using System.Buffers.Binary;
using System.Globalization;
using System.IO.Hashing;
using System.Security.Cryptography;
using System.Text;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Cost of malicious archives for the process (IMP-56, IMP-57).</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed class ArchiveCostTests
{
    private const int Volumes = 1_000;

    [Fact(Timeout = 300_000)]
    public async Task Article_listed_as_1000_volumes_is_refused_within_64_MiB()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await WarmedAsync(cancel);
        var folder = string.Concat(Enumerable.Repeat("a folder with a long name ", 3));
        var layout = new ArchiveLayout
        {
            Format = LayoutFormat.Rar5,
            Entries = [.. Enumerable.Range(0, 9_800).Select(i => new LayoutEntry(string.Create(CultureInfo.InvariantCulture, $"{folder}{i}"), 0) { Kind = EntryKind.Folder })],
            Stem = "film",
        };
        var article = new ReleaseBuilder("Flood", 401, 4 << 20).AddArchive(layout).Build();
        set.Mock.Post(article);
        Assert.Equal(1, article.ArticleCount);
        var nzb = Nzb(password: null, Enumerable.Range(0, Volumes).Select(_ => (article.MessageId(0, 1), (int)article.EncodedSize)));

        var entry = await MeasureAsync(set, "flood", nzb, cancel);

        Assert.Equal("RAR archives of this kind cannot be streamed (the release has too many headers).", entry.FailMessage);
    }

    [Fact(Timeout = 300_000)]
    public async Task Archive_with_1000_key_salts_is_refused_within_64_MiB()
    {
        const string Password = "open-sesame";
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await WarmedAsync(cancel);
        var first = new ArchiveLayout
        {
            Format = LayoutFormat.Rar5,
            Entries = [new LayoutEntry("film.mkv", 4_000)],
            Stem = "film",
            Password = Password,
            EncryptsHeaders = true,
            KeyRoundsLog2 = 20,
        };
        var builder = new ReleaseBuilder("Salts", 402, 100_000).AddArchive(first);
        for (var volume = 1; volume < Volumes; volume++)
            builder.AddFile(string.Create(CultureInfo.InvariantCulture, $"locked {volume}"), MockBytes.Of(Locked()), isTruth: false);
        var release = builder.Build();
        set.Mock.Post(release);
        var nzb = Nzb(Password, Enumerable.Range(0, Volumes).Select(volume => (release.MessageId(volume, 1), 6_000)));

        var entry = await MeasureAsync(set, "salts", nzb, cancel);

        string[] sentences = ["RAR archives of this kind cannot be streamed (the keys of the release take too long to derive).", "The archive password is wrong."];
        Assert.Contains(entry.FailMessage, sentences.AsEnumerable());
    }

    private static async Task<MockedServer> WarmedAsync(CancellationToken cancel)
    {
        var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);

        // A first import warms up the code and the connections that every import needs.
        var small = new ReleaseBuilder("Warm", 403, 20_000)
            .AddArchive(new ArchiveLayout { Format = LayoutFormat.Rar5, Volumes = 300, Entries = [new LayoutEntry("film.mkv", 3_000_000)], Naming = VolumeNaming.Random }).Build();
        set.Mock.Post(small);
        await set.Client.PublishedAsync(await set.Client.AddFileAsync("movies", "warm", small.ToNzb(), cancel), cancel);
        return set;
    }

    private static async Task<HistoryEntry> MeasureAsync(MockedServer set, string name, byte[] nzb, CancellationToken cancel)
    {
        var before = set.Server.ProcessorTime;
        HistoryEntry? entry = null;
        await HugeNzbTests.Grows(set, name, async () => entry = await set.Client.FinishedAsync(await set.Client.AddFileAsync("movies", name, nzb, cancel), cancel));
        TestContext.Current.TestOutputHelper?.WriteLine($"{name}: {(set.Server.ProcessorTime - before).TotalSeconds:0.00} s of CPU");
        return entry!;
    }

    private static byte[] Nzb(string? password, IEnumerable<(string Id, int Bytes)> volumes)
    {
        var nzb = new StringBuilder("<nzb><head>");
        if (password is not null)
            nzb.Append(CultureInfo.InvariantCulture, $"<meta type=\"password\">{password}</meta>");
        nzb.Append("</head>");
        foreach (var (number, (id, bytes)) in volumes.Index())
        {
            nzb.Append(CultureInfo.InvariantCulture, $"""
                <file subject="[{number + 1}/{Volumes}] - &quot;film.part{number + 1:0000}.rar&quot; yEnc (1/1)" date="1700000000"><groups><group>a.b.c</group></groups>
                <segments><segment bytes="{bytes}" number="1">{id}</segment></segments></file>
                """);
        }

        return Encoding.UTF8.GetBytes(nzb.Append("</nzb>").ToString());
    }

    /// <summary>Returns a RAR 5 volume with encrypted headers, a random salt, 2^20 rounds and no known password.</summary>
    private static byte[] Locked()
    {
        var check = RandomNumberGenerator.GetBytes(8);
        byte[] body = [4, 0, 0, 1, 20, .. RandomNumberGenerator.GetBytes(16), .. check, .. SHA256.HashData(check).AsSpan(0, 4)];
        byte[] sized = [(byte)body.Length, .. body];
        var crc = new byte[4];
        BinaryPrimitives.WriteUInt32LittleEndian(crc, Crc32.HashToUInt32(sized));
        return [.. "Rar!\x1A\x07\x01\0"u8, .. crc, .. sized, .. RandomNumberGenerator.GetBytes(5_000)];
    }
}
