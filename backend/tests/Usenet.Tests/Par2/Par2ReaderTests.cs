using Sluice.Usenet.Par2;
using Xunit;
using static Sluice.Usenet.Tests.Par2.Par2Samples;

namespace Sluice.Usenet.Tests.Par2;

public sealed class Par2ReaderTests
{
    public static TheoryData<string> Fixtures => [.. Names];

    [Theory]
    [MemberData(nameof(Fixtures))]
    public void Window_growing_byte_by_byte_gives_the_same_steps(string name)
    {
        var file = Read(name);
        for (var position = 0; position < file.Length;)
        {
            var whole = Par2Reader.Next(file.AsSpan(position), file.Length - position);
            Assert.True(whole.Advance > 0);

            var length = 0;
            var step = Par2Reader.Next([], file.Length - position);
            while (step.Advance == 0)
            {
                Assert.InRange(step.Needed, length + 1, file.Length - position);
                length++;
                step = Par2Reader.Next(file.AsSpan(position, length), file.Length - position);
            }

            Assert.Equal((whole.Advance, whole.IsDamaged, whole.Packet?.GetType()), (step.Advance, step.IsDamaged, step.Packet?.GetType()));
            position += (int)step.Advance;
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(60)]
    [InlineData(66)]
    [InlineData(int.MaxValue)]
    [InlineData(-4)]
    public void Wrong_packet_length_is_reported_as_damage(long length)
    {
        var packet = MainPacket(4, 1);
        BitConverter.GetBytes(length).CopyTo(packet, 8);

        Assert.Equal((8, true), ((int)Par2Reader.Next(packet, packet.Length).Advance, Par2Reader.Next(packet, packet.Length).IsDamaged));
    }

    [Fact]
    public void Set_id_needs_48_bytes_of_a_packet()
    {
        var packet = MainPacket(4, 1);

        Assert.NotNull(Par2Reader.SetIdOf(packet.AsSpan(0, 48)));
        Assert.Null(Par2Reader.SetIdOf(packet.AsSpan(0, 47)));
        Assert.Null(Par2Reader.SetIdOf(new byte[64]));
    }
}
