using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using System.Text;
using Sluice.Usenet.Yenc;
using Xunit;
using ArmCrc32 = System.Runtime.Intrinsics.Arm.Crc32;

namespace Sluice.Usenet.Tests.Yenc;

public sealed class Crc32KernelTests
{
    [Theory]
    [InlineData("", 0u)]
    [InlineData("123456789", 0xCBF43926u)]
    [InlineData("The quick brown fox jumps over the lazy dog", 0x414FA339u)]
    public void Checksum_matches_known_values(string text, uint expected) =>
        Assert.Equal(expected, Crc32Kernel.Append(0, Encoding.ASCII.GetBytes(text)));

    [Fact]
    public void Every_implementation_matches_the_bitwise_CRC()
    {
        var noise = TestArticle.Noise(1400);
        for (var length = 0; length <= 1300; length++)
        {
            var data = noise.AsSpan(length % 61, length);
            var expected = YencReference.Crc(data);

            Assert.Equal(expected, Crc32Kernel.Append(0, data));
            Assert.Equal(expected, ~Crc32Slicing.Update(uint.MaxValue, data));
            if (ArmCrc32.Arm64.IsSupported)
                Assert.Equal(expected, ~Crc32Short.UpdateArm(uint.MaxValue, data));
            if (CarrylessProduct.IsSupported && length >= Crc32Folding128.MinLength)
                Assert.Equal(expected, ~Crc32Folding.Update<Crc32Folding128, Vector128<ulong>>(uint.MaxValue, data));
            if (Pclmulqdq.V256.IsSupported && length >= Crc32Folding256.MinLength)
                Assert.Equal(expected, ~Crc32Folding.Update<Crc32Folding256, Vector256<ulong>>(uint.MaxValue, data));
            if (Pclmulqdq.V512.IsSupported && length >= Crc32Folding512.MinLength)
                Assert.Equal(expected, ~Crc32Folding.Update<Crc32Folding512, Vector512<ulong>>(uint.MaxValue, data));
        }
    }

    [Fact]
    public void Appending_in_pieces_equals_one_piece()
    {
        var noise = TestArticle.Noise(700);
        var expected = YencReference.Crc(noise);
        for (var cut = 0; cut <= noise.Length; cut++)
            Assert.Equal(expected, Crc32Kernel.Append(Crc32Kernel.Append(0, noise.AsSpan(0, cut)), noise.AsSpan(cut)));
    }

    [Fact]
    public void Combine_joins_the_checksums_of_two_halves()
    {
        var noise = TestArticle.Noise(700);
        var expected = YencReference.Crc(noise);
        for (var cut = 0; cut <= noise.Length; cut++)
        {
            var first = YencReference.Crc(noise.AsSpan(0, cut));
            var second = YencReference.Crc(noise.AsSpan(cut));
            Assert.Equal(expected, Crc32Kernel.Combine(first, second, noise.Length - cut));
        }
    }

    [Fact]
    public void Combine_handles_terabyte_lengths()
    {
        // (A‖B)‖C equals A‖(B‖C), with B and C the same unknown bytes of 2^40 + 3.
        const long Length = (1L << 40) + 3;
        var left = Crc32Kernel.Combine(Crc32Kernel.Combine(0x12345678, 0x9ABCDEF0, Length), 0x0F1E2D3C, Length);
        var right = Crc32Kernel.Combine(0x12345678, Crc32Kernel.Combine(0x9ABCDEF0, 0x0F1E2D3C, Length), 2 * Length);

        Assert.Equal(left, right);
        Assert.NotEqual(left, Crc32Kernel.Combine(0x12345678, 0x9ABCDEF0, Length) ^ 0x0F1E2D3C);
        Assert.Throws<ArgumentOutOfRangeException>(() => Crc32Kernel.Combine(1, 2, -1));
    }

    [Fact]
    public void Power_of_any_length_matches_square_and_multiply()
    {
        // Squares and multiplies, from the highest bit of 8·length down.
        var random = new Random(11);
        for (var i = 0; i < 2_000; i++)
        {
            var length = random.NextInt64(1L << random.Next(1, 63));
            var expected = 0x8000_0000u;
            for (var exponent = (UInt128)length << 3; exponent != 0; exponent &= ~(UInt128.One << (int)UInt128.Log2(exponent)))
            {
                var power = 0x4000_0000u;
                for (var bit = (int)UInt128.Log2(exponent); bit > 0; bit--)
                    power = Crc32Powers.MultiplyBits(power, power);
                expected = Crc32Powers.MultiplyBits(expected, power);
            }

            Assert.Equal(expected, Crc32Powers.OfBytes(length));
        }
    }

    [Fact]
    public void Carryless_product_equals_the_bitwise_one()
    {
        Assert.SkipUnless(CarrylessProduct.IsSupported, "the CPU multiplies without carry");
        var random = new Random(7);
        for (var i = 0; i < 20_000; i++)
        {
            var (a, b) = ((uint)random.NextInt64(1L << 32), (uint)random.NextInt64(1L << 32));
            Assert.Equal(Crc32Powers.MultiplyBits(a, b), Crc32Powers.MultiplyCarryless(a, b));
        }
    }

    [Theory]
    [InlineData(128, Crc32Folding128.Low128, Crc32Folding128.High128)]
    [InlineData(256, Crc32Folding256.Low256, Crc32Folding256.High256)]
    [InlineData(1024, Crc32Folding256.Low1024, Crc32Folding256.High1024)]
    [InlineData(512, Crc32Folding128.Low512, Crc32Folding128.High512)]
    [InlineData(2048, Crc32Folding512.Low2048, Crc32Folding512.High2048)]
    public void Folding_constants_match_the_computed_powers(int distance, ulong low, ulong high)
    {
        Assert.Equal(ReflectedPower(distance + 32), low);
        Assert.Equal(ReflectedPower(distance - 32), high);
    }

    /// <summary>Returns x^n modulo P, with its 32 bits mirrored and shifted up by one, as required by the reflected multiplication.</summary>
    private static ulong ReflectedPower(int n)
    {
        var remainder = 1ul;
        for (var i = 0; i < n; i++)
        {
            remainder <<= 1;
            if ((remainder & 0x1_0000_0000) != 0)
                remainder ^= 0x1_04C1_1DB7;
        }

        var mirrored = 0ul;
        for (var bit = 0; bit < 32; bit++)
            mirrored |= ((remainder >> bit) & 1) << (31 - bit);
        return mirrored << 1;
    }
}
