using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Auth;
using Sluice.Server.Listening;

namespace Sluice.Server.Tests.Auth;

/// <summary>Creates callers from their addresses, and budgets for their guesses.</summary>
internal static class Callers
{
    public static Caller At(string address, string? proxy = null) =>
        new(Prefix(address), proxy is null ? null : Prefix(proxy));

    public static Sender From(string address) => new(Prefix(address));

    public static AddressPrefix Prefix(string address) => AddressPrefix.Of(IPAddress.Parse(address));

    public static FailureBudget Budget(TimeProvider time) => new(time, NullLogger<FailureBudget>.Instance);
}
