using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Par2;

namespace Sluice.Usenet.Tests.Par2;

/// <summary>PAR2 files written by other programs, their sources, and packets written here.</summary>
internal static class Par2Samples
{
    /// <summary>Names of the files in the folder Fixtures.</summary>
    public static readonly string[] Names =
        ["set.par2", "set.vol0+2.par2", "set.vol2+4.par2", "tree.par2", "zeros.par2", "posted-rar5.par2", "posted-obfuscated.par2"];

    public static byte[] Read(string name) => File.ReadAllBytes(Repository.PathOf($"backend/tests/Usenet.Tests/Par2/Fixtures/{name}"));

    /// <summary>Returns the output of the program <c>seq</c>, from which make.sh makes its files.</summary>
    public static byte[] Sequence(int last) =>
        Encoding.ASCII.GetBytes(string.Concat(Enumerable.Range(1, last).Select(i => i.ToString(CultureInfo.InvariantCulture) + "\n")));

    /// <summary>Returns a packet with a right checksum.</summary>
    public static byte[] Packet(string type, params byte[][] body)
    {
        var packet = new byte[64 + body.Sum(part => part.Length)];
        "PAR2\0PKT"u8.CopyTo(packet);
        BinaryPrimitives.WriteInt64LittleEndian(packet.AsSpan(8), packet.Length);
        packet.AsSpan(32, 16).Fill(7);
        Encoding.ASCII.GetBytes(type).CopyTo(packet, 48);
        body.SelectMany(part => part).ToArray().CopyTo(packet, 64);
        BinaryPrimitives.WriteUInt128BigEndian(packet.AsSpan(16), Par2Reader.Md5Of(packet.AsSpan(32)));
        return packet;
    }

    public static byte[] MainPacket(long sliceSize, params byte[] files) =>
        Packet("PAR 2.0\0Main\0\0\0\0", Number(sliceSize), BitConverter.GetBytes(files.Length), [.. files.SelectMany(Id)]);

    public static byte[] Description(byte file, string name, long length = 100_000) =>
        Description(file, Encoding.UTF8.GetBytes(name), length);

    public static byte[] Description(byte file, byte[] name, long length = 100_000) =>
        Packet("PAR 2.0\0FileDesc", Id(file), Id(1), Id(2), Number(length), Padded(name));

    public static byte[] UnicodeName(byte file, string name) =>
        Packet("PAR 2.0\0UniFileN", Id(file), Padded(Encoding.Unicode.GetBytes(name)));

    public static byte[] Id(byte value) => Enumerable.Repeat(value, 16).ToArray();

    private static byte[] Number(long value) => BitConverter.GetBytes(value);

    private static byte[] Padded(byte[] name) => [.. name, .. new byte[(4 - name.Length % 4) % 4]];
}
