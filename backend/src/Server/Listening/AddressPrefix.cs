using System.Buffers.Binary;
using System.Net;

namespace Sluice.Server.Listening;

/// <summary>
/// A sender as strangers are counted: the whole of an IPv4 address and the first 64 bits of an IPv6 one, because one household owns all
/// addresses of that prefix and can change between them (DAV-32, DAV-77).
/// </summary>
internal readonly record struct AddressPrefix
{
    private const int HostBits = 64;

    private readonly UInt128 _bits;

    private AddressPrefix(UInt128 bits) => _bits = bits;

    private bool IsV4 => _bits >> 32 == 0xFFFF;

    /// <summary>Reads what <see cref="ToString"/> writes; null for any other text.</summary>
    public static AddressPrefix? Parse(string text) => IPAddress.TryParse(text.Split('/')[0], out var address) ? Of(address) : null;

    /// <summary>The prefix of an address. IPv4 is the same written plainly and as <c>::ffff:a.b.c.d</c>.</summary>
    public static AddressPrefix Of(IPAddress? address)
    {
        if (address is null)
            return default;

        Span<byte> bytes = stackalloc byte[16];
        address.MapToIPv6().TryWriteBytes(bytes, out _);
        var prefix = new AddressPrefix(BinaryPrimitives.ReadUInt128BigEndian(bytes));
        return prefix.IsV4 ? prefix : new AddressPrefix((prefix._bits >> HostBits) << HostBits);
    }

    /// <summary>An address, or a network with its length.</summary>
    public override string ToString()
    {
        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, _bits);
        var address = new IPAddress(bytes);
        return IsV4 ? address.MapToIPv4().ToString() : $"{address}/{HostBits}";
    }
}
