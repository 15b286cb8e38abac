using Sluice.Usenet.Archives;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Malformed archives cause only typed errors, within the budget (IMP-56).</summary>
public sealed class RarMutationTests
{
    private const int Marker = 8;

    [Theory]
    [InlineData("rar4")]
    [InlineData("rar5")]
    public Task Mutated_volumes_give_parts_or_typed_errors(string format) => Mutate(format, 100_000);

    [Theory]
    [InlineData("rar4")]
    [InlineData("rar5")]
    [Trait("Category", "Long")]
    public Task Million_mutated_volumes_give_parts_or_typed_errors(string format) => Mutate(format, 1_000_000);

    private static async Task Mutate(string format, int count)
    {
        var corpus = Corpus(format);
        var random = new Random(count);
        var outcomes = new Dictionary<ArchiveFault, int>();
        var mapped = 0;
        for (var i = 0; i < count; i++)
        {
            var original = corpus[random.Next(corpus.Count)];
            var bytes = Mutated(original, random, format);
            var budget = new ArchiveBudget();
            try
            {
                var passwords = RarRead.With("secret", "other");
                var depth = random.Next(4) == 0 ? RarDepth.FirstFile : RarDepth.Whole;
                var volume = await RarVolumeReader.ReadAsync(new HeaderWindow(new RarInput(bytes), budget), passwords, depth, default);
                Assert.All(volume.Parts, part => Assert.InRange(part.DataOffset + part.DataLength, 0, bytes.Length));
                Assert.All(RarChain.Sort([volume, volume]), set => Assert.NotEmpty(set));
                if (volume.HasAllParts)
                    RarSet.Join([volume], passwords);
                mapped++;
            }
            catch (ArchiveException exception)
            {
                outcomes[exception.Fault] = outcomes.GetValueOrDefault(exception.Fault) + 1;
            }

            Assert.InRange(budget.Bytes, 0, 1 << 20);
            Assert.InRange(budget.Steps, 0, 10_000);
        }

        // Mutations prove something only if many of them pass the first check.
        Assert.True(mapped > count / 50, $"{mapped} of {count} were read");
        Assert.True(outcomes.GetValueOrDefault(ArchiveFault.Broken) > count / 10);
        Assert.True(outcomes.ContainsKey(ArchiveFault.Unsupported));
        Assert.True(outcomes.ContainsKey(ArchiveFault.Incomplete));
    }

    /// <summary>Returns volumes of rar and of the test writer; encrypted ones have fake keys that cost nothing.</summary>
    private static List<byte[]> Corpus(string format)
    {
        var deriver = new FreeKeyDeriver();
        var corpus = RarFixture.Names.Where(name => name.StartsWith(format, StringComparison.Ordinal))
            .SelectMany(name => RarFixture.Volumes(name) is { Count: > 3 } many ? [many[0], many[^1]] : RarFixture.Volumes(name))
            .Where(volume => volume.Length < 12_000).ToList();
        for (var i = 0; i < 4; i++)
        {
            corpus.Add(format == "rar4"
                ? new Rar4Writer(Rar4Writer.Volume | Rar4Writer.EncryptedHeaders).Encrypt(deriver, "secret")
                    .File("film.mkv", 99, new byte[16], Rar4Writer.SplitAfter | Rar4Writer.Encrypted | Rar4Writer.Salted).End(continues: true).ToArray()
                : new Rar5Writer().Encrypt(deriver, "secret", i % 2 == 0 ? null : Rar5Writer.Check(deriver, "secret")).Main(number: 5)
                    .File("film.mkv", 16, new byte[16], extra: Rar5Writer.EncryptionRecord(Rar5Writer.Check(deriver, "secret"))).End().ToArray());
        }

        return corpus;
    }

    /// <summary>Changes one to four positions, and in half of all cases corrects the checksum of the first header.</summary>
    private static byte[] Mutated(byte[] original, Random random, string format)
    {
        var bytes = original.ToList();
        for (var changes = random.Next(1, 5); changes > 0 && bytes.Count > Marker; changes--)
        {
            var place = random.Next(3) switch
            {
                0 => random.Next(bytes.Count),
                1 => Marker + random.Next(Math.Min(100, bytes.Count - Marker)),
                _ => bytes.Count - 1 - random.Next(Math.Min(100, bytes.Count)),
            };
            var length = Math.Min(random.Next(1, 20), bytes.Count - place);
            switch (random.Next(8))
            {
                case 0:
                    bytes.RemoveRange(place, length);
                    break;
                case 1:
                    bytes.InsertRange(random.Next(bytes.Count), bytes.GetRange(place, length));
                    break;
                case 2:
                    bytes.RemoveRange(place, bytes.Count - place);
                    break;
                case 3:
                    bytes[place] = (byte)(random.Next(2) * 255);
                    break;
                case 4:
                    bytes[place] ^= (byte)(1 << random.Next(8));
                    break;
                default:
                    bytes[place] = (byte)random.Next(256);
                    break;
            }
        }

        var mutated = bytes.ToArray();
        if (random.Next(8) > 0)
            MakeSound(mutated, format == "rar4");
        return mutated;
    }

    /// <summary>Corrects the checksums of all consecutive headers.</summary>
    private static void MakeSound(byte[] bytes, bool isRar4)
    {
        for (var at = isRar4 ? Marker - 1 : Marker; at + 7 <= bytes.Length;)
        {
            if (!(isRar4 ? Rar4Block.TryMeasure(bytes.AsSpan(at), out var length) : Rar5Block.TryMeasure(bytes.AsSpan(at), out length)) || at + length > bytes.Length)
                return;
            var header = bytes.AsSpan(at, length);
            var crc = YencReference.Crc(header[(isRar4 ? 2 : 4)..]);
            for (var i = 0; i < (isRar4 ? 2 : 4); i++)
                header[i] = (byte)(crc >> (8 * i));
            try
            {
                at += (int)Math.Min(length + (isRar4 ? Rar4Block.Parse(header) : Rar5Block.Parse(header)).DataLength, bytes.Length);
            }
            catch (ArchiveException)
            {
                return;
            }
        }
    }
}
