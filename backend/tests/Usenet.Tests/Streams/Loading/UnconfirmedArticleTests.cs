using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// F18: an article with insufficient evidence is neither good nor bad. It is served once a second copy has the same bytes, or a
/// copy with sufficient evidence arrives.
/// </summary>
public sealed class UnconfirmedArticleTests
{
    private const int PartSize = 50_000;
    private const int Suspect = 2;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Why the evidence of an article is insufficient. Its part number is always right.</summary>
    public enum Want
    {
        NoTrailer,
        NoChecksum,
        UnreadableChecksum,
        UnusableRange,
        NoRange,
        RangeWithoutEnd,
    }

    public static TheoryData<Want> Wants => [.. Enum.GetValues<Want>()];

    [Theory]
    [MemberData(nameof(Wants))]
    public async Task Two_differing_copies_are_not_served(Want want)
    {
        foreach (var verifies in new[] { true, false })
        {
            var source = Film(providers: 2);
            source.Post(0, Id(Suspect), Article(Other(1), want));
            source.Post(1, Id(Suspect), Article(Other(2), want));
            var read = await ReadAsync(source, verifies);
            Assert.True(verifies ? read == 0 : read < PartSize, $"{want}: {read} bytes that no two stores agree upon");
            Assert.Equal([0, 1, 0, 1], ServedBy(source));
        }
    }

    [Theory]
    [MemberData(nameof(Wants))]
    public async Task Proved_copy_replaces_an_unconfirmed_one(Want want)
    {
        foreach (var verifies in new[] { true, false })
        {
            var source = Film(providers: 2);
            source.Post(0, Id(Suspect), Article(Other(1), want));
            source.Post(1, Id(Suspect), Article(Data(Suspect)));
            var read = await ReadAsync(source, verifies);
            Assert.True(read == PartSize || !verifies, $"{want}: {read} bytes");
            Assert.Equal([0, 1], ServedBy(source)[..2]);
        }
    }

    [Theory]
    [MemberData(nameof(Wants))]
    public async Task Two_equal_copies_are_served_without_a_third_request(Want want)
    {
        foreach (var (providers, verifies) in new[] { (1, true), (2, true), (1, false), (2, false) })
        {
            var source = Film(providers);
            for (var provider = 0; provider < providers; provider++)
                source.Post(provider, Id(Suspect), Article(Data(Suspect), want));
            Assert.Equal(PartSize, await ReadAsync(source, verifies));
            Assert.Equal(providers == 1 ? [0, 0] : [0, 1], ServedBy(source));
        }
    }

    [Fact]
    public async Task Lone_provider_with_differing_copies_is_tried_only_twice()
    {
        var source = Film(providers: 1);
        source.Post(0, Id(Suspect), [.. Enumerable.Range(1, 10).Select(seed => Article(Other(seed), Want.NoChecksum))]);
        Assert.Equal(0, await ReadAsync(source, verifies: true));
        Assert.Equal([0, 0], ServedBy(source));
    }

    [Fact]
    public async Task Third_copy_decides_between_two_differing_ones()
    {
        var source = Film(providers: 3);
        source.Post(0, Id(Suspect), Article(Other(1), Want.NoChecksum));
        source.Post(1, Id(Suspect), Article(Data(Suspect), Want.NoTrailer));
        source.Post(2, Id(Suspect), Article(Data(Suspect), Want.UnreadableChecksum));
        Assert.Equal(PartSize, await ReadAsync(source, verifies: true));
        Assert.Equal([0, 1, 2], ServedBy(source));
    }

    [Fact]
    public async Task Copy_from_a_duplicate_id_also_confirms()
    {
        var source = Film(providers: 1);
        source.Post(0, Id(Suspect), Article(Data(Suspect), Want.NoTrailer), Article(Other(1), Want.NoTrailer));
        source.Post(0, "copy@film", Article(Data(Suspect), Want.NoTrailer));
        Assert.Equal(PartSize, await ReadAsync(source, verifies: true, fallback: "copy@film"));
    }

    [Fact]
    public async Task Disabled_CRC_check_serves_one_copy_without_a_second()
    {
        foreach (var want in new[] { Want.NoTrailer, Want.NoChecksum, Want.UnreadableChecksum })
        {
            var source = Film(providers: 2);
            source.Post(0, Id(Suspect), Article(Data(Suspect), want));
            Assert.Equal(PartSize, await ReadAsync(source, verifies: true, checksCrc: false));
            Assert.Equal([0], ServedBy(source));
        }
    }

    [Theory]
    [InlineData(Want.NoTrailer)]
    [InlineData(Want.NoChecksum)]
    [InlineData(Want.NoRange)]
    public async Task Post_without_checksum_or_range_costs_at_most_5_percent_more(Want want)
    {
        const int Parts = 200;
        const int Size = 5_000;
        var source = new CopiesSource(2);
        var data = TestArticle.Noise(Parts * Size, 5);
        for (var part = 0; part < Parts; part++)
        {
            for (var provider = 0; provider < 2; provider++)
                source.Post(provider, Id(part), Article(data.AsSpan(part * Size, Size).ToArray(), want, part, (long)part * Size, data.Length, Parts));
        }

        // This file does not even have the habits learned by the import.
        await using var engine = new StreamEngine(source, new StreamOptions { CacheBytes = 0 }, TimeProvider.System, NullLoggerFactory.Instance);
        await using var stream = engine.Open([FileExtent.Whole(new PostedFile(SegmentMap.Uniform(Parts, Size, data.Length), Ids(Parts, null)))], OperationLane.Playback);
        var read = new byte[data.Length];
        await stream.ReadExactlyAsync(read, Token);
        Assert.True(read.AsSpan().SequenceEqual(data));
        Assert.InRange(source.Served.Count, Parts, Parts * 1.05);
    }

    /// <summary>Reads the suspect part after siblings with complete evidence have been read.</summary>
    /// <returns>Number of bytes read. All are right if the read completes or early release is off.</returns>
    private static async Task<int> ReadAsync(CopiesSource source, bool verifies, string? fallback = null, bool checksCrc = true)
    {
        var options = new StreamOptions { VerifyBeforeServe = verifies, ChecksCrc = checksCrc };
        await using var engine = new StreamEngine(source, options, TimeProvider.System, NullLoggerFactory.Instance);
        var file = new PostedFile(SegmentMap.Uniform(4, PartSize, 4 * PartSize), Ids(4, fallback));
        foreach (var sibling in new[] { 0, 1 })
        {
            await using var beside = engine.Open([FileExtent.Whole(file)], OperationLane.Playback, sibling * PartSize, (sibling + 1) * PartSize);
            await beside.ReadExactlyAsync(new byte[PartSize], Token);
        }

        await using var stream = engine.Open([FileExtent.Whole(file)], OperationLane.Playback, Suspect * PartSize, (Suspect + 1) * PartSize);
        var read = new byte[PartSize];
        var total = 0;
        try
        {
            while (await stream.ReadAsync(read.AsMemory(total), Token) is var count and > 0)
                total += count;
        }
        catch (IOException)
        {
            // The caller gets the number of bytes read so far.
        }

        if (verifies || total == PartSize)
            Assert.True(read.AsSpan(0, total).SequenceEqual(Data(Suspect).AsSpan(0, total)), "wrong bytes");
        return total;
    }

    private static int[] ServedBy(CopiesSource source) => [.. source.Served.Where(copy => copy.Id == Id(Suspect)).Select(copy => copy.Provider)];

    private static CopiesSource Film(int providers)
    {
        var source = new CopiesSource(providers);
        for (var part = 0; part < 4; part++)
        {
            for (var provider = 0; provider < providers; provider++)
                source.Post(provider, Id(part), Article(Data(part), null, part));
        }

        return source;
    }

    private static string Id(int part) => $"{part}@film";

    private static byte[] Data(int part) => TestArticle.Noise(PartSize, 100 + part);

    /// <summary>Returns the bytes of another article.</summary>
    private static byte[] Other(int seed) => TestArticle.Noise(PartSize, 1000 + seed);

    private static byte[] Article(byte[] data, Want? want = null, int part = Suspect, long? begin = null, long fileSize = 4 * PartSize, int parts = 4)
    {
        var from = begin ?? (long)part * PartSize;
        var body = TestArticle.Part(data, from, fileSize, part + 1, parts);
        var trailer = body.IndexOf("=yend", StringComparison.Ordinal);
        var checksum = body.IndexOf("pcrc32=", trailer, StringComparison.Ordinal);
        var rangeAt = body.IndexOf("=ypart", StringComparison.Ordinal);
        var rangeEnd = body.IndexOf("\r\n", rangeAt, StringComparison.Ordinal) + 2;
        return TestArticle.OnWire(want switch
        {
            Want.NoTrailer => body[..trailer],
            Want.NoChecksum => $"{body[..checksum].TrimEnd()}\r\n",
            Want.UnreadableChecksum => $"{body[..checksum]}pcrc32=zzzzzzzz\r\n",
            Want.UnusableRange => string.Create(CultureInfo.InvariantCulture, $"{body[..rangeAt]}=ypart begin={from + data.Length} end={from + 1}\r\n{body[rangeEnd..]}"),
            Want.NoRange => body[..rangeAt] + body[rangeEnd..],
            Want.RangeWithoutEnd => string.Create(CultureInfo.InvariantCulture, $"{body[..rangeAt]}=ypart begin={from + 1}\r\n{body[rangeEnd..]}"),
            _ => body,
        });
    }

    private static FixedIds Ids(int count, string? fallback) => new([.. Enumerable.Range(0, count).Select(
        index => new SegmentIds(MessageId.Parse(Id(index)), fallback is null || index != Suspect ? [] : [MessageId.Parse(fallback)]))]);
}
