using System.Net.Security;

namespace Sluice.Usenet.Nntp;

/// <summary>The order in which cipher suites are offered: AES-128-GCM first, which costs the least where the CPU has AES.</summary>
internal static class TlsCiphers
{
    private static readonly TlsCipherSuite[] InOrder =
    [
        TlsCipherSuite.TLS_AES_128_GCM_SHA256,
        TlsCipherSuite.TLS_AES_256_GCM_SHA384,
        TlsCipherSuite.TLS_CHACHA20_POLY1305_SHA256,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,

        // What servers of TLS 1.2 may be left with; the system's own list has them too.
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
        TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384,
        TlsCipherSuite.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384,
    ];

    /// <summary>The order, for a client; null where the system does not let programs choose.</summary>
    public static CipherSuitesPolicy? Preferred() => OperatingSystem.IsLinux() ? new CipherSuitesPolicy(InOrder) : null;
}
