using System.Buffers.Binary;
using System.Net;

namespace Sluice.Server.Listening;

/// <summary>
/// Identifies an unauthenticated client by its IPv4 address or the first 64 bits of its IPv6 address (DAV-32, DAV-77). Only a prefix, because a household can
/// use every address in it.
/// </summary>
internal readonly record struct AddressPrefix
{
    private const int HostBits = 64;

    private readonly UInt128 _bits;

    private AddressPrefix(UInt128 bits) => _bits = bits;

    private bool IsV4 => _bits >> 32 == 0xFFFF;

    /// <summary>Parses the output of <see cref="ToString"/>; null for other text.</summary>
    public static AddressPrefix? Parse(string text) => IPAddress.TryParse(text.Split('/')[0], out var address) ? Of(address) : null;

    /// <summary>Returns the prefix of an address. An IPv4-mapped IPv6 address counts as IPv4.</summary>
    public static AddressPrefix Of(IPAddress? address)
    {
        if (address is null)
            return default;

        Span<byte> bytes = stackalloc byte[16];
        address.MapToIPv6().TryWriteBytes(bytes, out _);
        var prefix = new AddressPrefix(BinaryPrimitives.ReadUInt128BigEndian(bytes));
        return prefix.IsV4 ? prefix : new AddressPrefix((prefix._bits >> HostBits) << HostBits);
    }

    public override string ToString()
    {
        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, _bits);
        var address = new IPAddress(bytes);
        return IsV4 ? address.MapToIPv4().ToString() : $"{address}/{HostBits}";
    }
}
