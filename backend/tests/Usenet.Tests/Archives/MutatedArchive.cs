using System.Buffers.Binary;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Malformed archives, made by mutation.</summary>
internal static class MutatedArchive
{
    private static readonly long[] Numbers = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, int.MaxValue, uint.MaxValue, long.MaxValue, -1];

    /// <summary>Changes bytes, writes boundary values, removes or repeats bytes, or truncates the archive, at one to three offsets.</summary>
    /// <param name="original">The archive.</param>
    /// <param name="begin">The offset after which most changes lie.</param>
    /// <param name="random">Source of all choices.</param>
    public static byte[] Of(byte[] original, int begin, Random random)
    {
        var bytes = original.ToArray();
        for (var changes = random.Next(1, 4); changes > 0 && bytes.Length > 0; changes--)
        {
            var from = random.Next(4) == 0 ? 0 : Math.Min(begin, bytes.Length - 1);
            var at = random.Next(from, bytes.Length);
            var length = Math.Min(random.Next(1, 24), bytes.Length - at);
            switch (random.Next(8))
            {
                case 0 or 1:
                    bytes[at] = (byte)random.Next(256);
                    break;
                case 2:
                    bytes[at] ^= (byte)(1 << random.Next(8));
                    break;
                case 3:
                    WriteNumber(bytes.AsSpan(at), Numbers[random.Next(Numbers.Length)], random);
                    break;
                case 4:
                    bytes = [.. bytes.AsSpan(0, at), .. bytes.AsSpan(at + length)];
                    break;
                case 5:
                    bytes = [.. bytes.AsSpan(0, at), .. bytes.AsSpan(at, length), .. bytes.AsSpan(at)];
                    break;
                case 6:
                    bytes.AsSpan(at, length).CopyTo(bytes.AsSpan(random.Next(bytes.Length - length + 1)));
                    break;
                case 7 when random.Next(4) == 0:
                    bytes = bytes[..at];
                    break;
            }
        }

        return bytes;
    }

    private static void WriteNumber(Span<byte> place, long number, Random random)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        if (random.Next(2) == 0)
            BinaryPrimitives.WriteInt64LittleEndian(bytes, number);
        else
            BinaryPrimitives.WriteInt64BigEndian(bytes, number);
        var length = Math.Min(1 << random.Next(4), place.Length);
        bytes[..length].CopyTo(place);
    }
}
