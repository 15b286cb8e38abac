using Sluice.Usenet.Par2;
using Xunit;
using static Sluice.Usenet.Tests.Par2.Par2Samples;

namespace Sluice.Usenet.Tests.Par2;

/// <summary>Reading any file ends within its limits and accepts no data without a valid checksum.</summary>
public sealed class Par2MutationTests
{
    private const int Seed = 20260316;

    [Fact]
    public void Mutated_files_give_proved_descriptions_or_none() => Mutate(100_000, Seed);

    [Fact]
    [Trait("Category", "Long")]
    public void A_million_mutated_files_give_proved_descriptions_or_none() => Mutate(1_000_000, Seed + 1);

    private static void Mutate(int count, int seed)
    {
        byte[][] corpus = [Read("set.par2"), Read("tree.par2"), Read("zeros.par2"), Read("posted-rar5.par2")[..6000], Read("set.vol0+2.par2")[..6000]];
        var known = corpus.SelectMany(file => Par2Index.Parse(file)!.Files).ToHashSet();
        var random = new Random(seed);
        var (whole, partial, none) = (0, 0, 0);
        for (var i = 0; i < count; i++)
        {
            var source = corpus[random.Next(corpus.Length)];
            var mutated = Change(source, random);
            var steps = 0;
            for (var position = 0L; position < mutated.Length; steps++)
            {
                var step = Par2Reader.Next(mutated.AsSpan((int)position), mutated.Length - position);
                Assert.InRange(step.Advance, 1, mutated.Length - position);
                position += step.Advance;
            }

            Assert.InRange(steps, 0, mutated.Length / 8 + 1);
            var index = Par2Index.Parse(mutated);
            Assert.All(index?.Files ?? [], file => Assert.Contains(file, known));
            _ = index is null ? none++ : index.Files.Count > 1 ? whole++ : partial++;
        }

        // Mutations prove something only if every outcome occurs.
        Assert.All(new[] { whole, partial, none }, taken => Assert.InRange(taken, count / 1000, count));
    }

    private static byte[] Change(byte[] source, Random random)
    {
        var bytes = (byte[])source.Clone();
        for (var i = random.Next(1, 6); i > 0; i--)
        {
            var at = random.Next(bytes.Length);
            switch (random.Next(5))
            {
                case 0:
                    bytes[at] ^= (byte)(1 << random.Next(8));
                    break;
                case 1:
                    bytes[at] = (byte)random.Next(256);
                    break;
                case 2:
                    bytes.AsSpan(at, Math.Min(8, bytes.Length - at)).Fill((byte)(random.Next(2) * 255));
                    break;
                case 3:
                    bytes = bytes[..Math.Max(1, at)];
                    break;
                default:
                    var from = random.Next(bytes.Length);
                    bytes.AsSpan(from, Math.Min(random.Next(200), Math.Min(bytes.Length - from, bytes.Length - at))).CopyTo(bytes.AsSpan(at));
                    break;
            }
        }

        return bytes;
    }
}
