using System.Buffers.Binary;
using System.Net;
using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>
/// A sender as failures are counted: all of an IPv4 address, and the first 64 bits of an IPv6 one, because a household has that
/// many to change between (DAV-32).
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

/// <summary>A sender as it is counted and remembered: an address, or a browser that was right before, wherever it is.</summary>
/// <param name="Address">The address; default for a browser.</param>
/// <param name="Browser">The hash of the browser's cookie; null for an address.</param>
internal readonly record struct Sender(AddressPrefix Address, string? Browser = null);

/// <summary>The sender that is accountable for a request.</summary>
/// <param name="Client">The sender, as far as a trusted proxy names it.</param>
/// <param name="Proxy">The trusted proxy that the request came through; null when it came straight from the client.</param>
/// <param name="Browser">The hash of the cookie of a browser that was right before; null for any other client.</param>
internal readonly record struct Caller(AddressPrefix Client, AddressPrefix? Proxy = null, string? Browser = null)
{
    /// <summary>Whose failures are counted. A browser that was right before answers for itself, not for its address.</summary>
    public Sender Sender => Browser is null ? new Sender(Client) : new Sender(default, Browser);

    /// <summary>Reads a request, after <see cref="TrustedProxies"/> has.</summary>
    public static Caller Of(HttpContext http) => new(
        AddressPrefix.Of(http.Connection.RemoteIpAddress),
        http.Features.Get<Forwarding>() is { IsTrusted: true } forwarding ? AddressPrefix.Of(forwarding.Peer) : null);
}
