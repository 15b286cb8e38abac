using System.Text;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>For any damage to an archive, its reader returns a valid map or a specified error, within its budget (IMP-56).</summary>
public sealed class ArchiveMutationTests
{
    private const int Each = 100_000;
    private const long MostMemory = 32 << 20;

    private delegate Task<ArchiveMap> Reader(IArchiveInput input, ArchiveBudget budget);

    [Fact]
    public void Mutated_7z_archives_give_maps_or_typed_errors() => ReadSevenZips(Each, 7);

    [Fact]
    public void Mutated_zips_give_maps_or_typed_errors() => ReadZips(Each, 8);

    [Fact]
    public void Mutated_tars_give_maps_or_typed_errors() => ReadTars(Each, 9);

    [Fact]
    [Trait("Category", "Long")]
    public void Million_mutations_of_each_kind_give_maps_or_typed_errors()
    {
        ReadSevenZips(10 * Each, 17);
        ReadZips(10 * Each, 18);
        ReadTars(10 * Each, 19);
    }

    // Archives with a packed header are read both as they are and with a plain header, in which mutations have more effect.
    private static void ReadSevenZips(int count, int seed)
    {
        var corpus = FixtureArchive.NamesIn("7z").Where(name => name.EndsWith(".7z", StringComparison.Ordinal) && !name.Contains("many", StringComparison.Ordinal))
            .Select(FixtureArchive.Read).ToList();
        corpus.AddRange(corpus.Select(LayOpen).OfType<byte[]>().ToList());
        Read(
            corpus,
            archive => Math.Max(0, (int)SevenZipStart.Read(archive)!.Value.HeaderOffset - 64),
            (bytes, random) =>
            {
                if (random.Next(8) > 0)
                    SevenZipWriter.Reseal(bytes);
            },
            (input, budget) => SevenZipReader.ReadAsync(input, SevenZipKeys.Free("secret", "other"), budget, CancellationToken.None),
            count,
            seed);
    }

    private static void ReadZips(int count, int seed) => Read(
        [.. FixtureArchive.NamesIn("zip").Where(name => !name.Contains("split", StringComparison.Ordinal)).Select(FixtureArchive.Read)],
        archive => Math.Max(0, archive.AsSpan().IndexOf("PK\u0001\u0002"u8)),
        (_, _) => { },
        (input, budget) => ZipReader.ReadAsync(input, [input.Length], budget, CancellationToken.None),
        count,
        seed);

    private static void ReadTars(int count, int seed) => Read(
        // Mutates headers alone, because mutated data would only take time.
        [.. FixtureArchive.NamesIn("tar").Select(FixtureArchive.Read)],
        _ => 0,
        (bytes, random) =>
        {
            if (random.Next(8) > 0)
                SealHeaders(bytes);
        },
        (input, budget) => TarReader.ReadAsync(input, budget, CancellationToken.None),
        count,
        seed);

    private static void Read(List<byte[]> corpus, Func<byte[], int> begin, Action<byte[], Random> seal, Reader reader, int count, int seed)
    {
        var maps = 0;
        for (var i = 0; i < count; i++)
        {
            var random = new Random((seed * 10_000_000) + i);
            var original = corpus[i % corpus.Count];
            var bytes = MutatedArchive.Of(original, begin(original), random);
            seal(bytes, random);
            var input = new FixtureInput(bytes);
            var budget = new ArchiveBudget();
            var before = GC.GetAllocatedBytesForCurrentThread();
            try
            {
                // Everything is in memory, so the task has already completed.
                var reading = reader(input, budget);
                Assert.True(reading.IsCompleted);
                AssertHolds(reading.GetAwaiter().GetResult(), bytes.Length, $"{i} of {seed}");
                maps++;
            }
            catch (ArchiveException)
            {
            }

            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, MostMemory);
            Assert.InRange(input.BytesRead, 0, ArchiveBudget.BaseBytes);
            Assert.InRange(budget.Steps, 0, ArchiveBudget.BaseSteps);
        }

        // Mutations prove something only if both outcomes are frequent.
        Assert.InRange(maps, count / 20, count * 19 / 20);
    }

    // Every served extent lies inside the archive, and every entry has its declared length.
    private static void AssertHolds(ArchiveMap map, long length, string of)
    {
        foreach (var entry in map.Entries)
        {
            Assert.True(entry.Length > 0, of);
            Assert.All(entry.Extents, extent => Assert.True(extent is { Volume: 0, Offset: >= 0, Length: > 0 } && extent.Offset <= length - extent.Length, of));
            if (entry.Method is null)
            {
                var text = entry.Extents.Sum(extent => extent.Length);
                Assert.All(entry.Candidates.Append(entry.Cipher).OfType<StreamCipher>(), cipher => Assert.True(
                    cipher.Skip is >= 0 and < 32 && text % 16 == 0 && text >= cipher.Skip + entry.Length && text < cipher.Skip + entry.Length + 16, of));
                Assert.True(entry.Candidates.Count > 0 || entry.Cipher is not null || text == entry.Length, of);
            }
        }
    }

    private static byte[]? LayOpen(byte[] archive)
    {
        var start = SevenZipStart.Read(archive)!.Value;
        var cursor = new SevenZipCursor(archive.AsMemory((int)start.HeaderOffset));
        if (start.HeaderSize == 0 || cursor.ReadProperty() != SevenZipProperty.EncodedHeader)
            return null;
        var streams = SevenZipStreams.Read(cursor, archive.Length, new SevenZipLists(new ArchiveBudget()));
        var packed = archive.AsMemory((int)streams.Packed[0].Offset, (int)streams.Packed[0].Length);
        // Everything is in memory, so the task has already completed.
        var header = new SevenZipUnpacker(SevenZipKeys.Of("secret"), new ArchiveBudget())
            .UnpackAsync(streams.Folders[0], packed, CancellationToken.None).GetAwaiter().GetResult();
        return SevenZipWriter.Close(archive[SevenZipStart.Size..(int)streams.Packed[0].Offset], header.ToArray());
    }

    // Corrects the checksum of each block that looks like a header.
    private static void SealHeaders(byte[] archive)
    {
        for (var at = 0; at + TarHeader.Size <= archive.Length; at += TarHeader.Size)
        {
            var block = archive.AsSpan(at, TarHeader.Size);
            if (!block.Slice(257, 5).SequenceEqual("ustar"u8))
                continue;
            block.Slice(148, 8).Fill((byte)' ');
            var sum = 0;
            foreach (var value in block)
                sum += value;
            Encoding.ASCII.GetBytes(Convert.ToString(sum, 8).PadLeft(6, '0') + "\0").CopyTo(block[148..]);
        }
    }
}
