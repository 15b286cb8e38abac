using System.Globalization;
using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>What a named key may do.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<KeyAccess>))]
internal enum KeyAccess
{
    /// <summary>Everything.</summary>
    Full,

    /// <summary>Read.</summary>
    Read,
}

/// <summary>A named key, without itself.</summary>
internal sealed record KeyEntry(string Id, string Name, KeyAccess Access, DateTimeOffset Created, DateTimeOffset? LastUsed);

/// <summary>All named keys.</summary>
internal sealed record KeyEntries(IReadOnlyList<KeyEntry> Items);

/// <summary>A key that is to be made.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Access">What it may do.</param>
/// <param name="Password">The administrator's password; null to go without, as far as that is allowed.</param>
internal sealed record NewKey(string Name, KeyAccess Access, string? Password = null) : IJsonBody<NewKey>;

/// <summary>A key that was made, which is shown once.</summary>
internal sealed record MadeKey(string Id, string Name, KeyAccess Access, string Key);

/// <summary>A browser that is logged in.</summary>
/// <param name="Id">Its name in this list.</param>
/// <param name="Address">Where it was used last; empty if not known.</param>
/// <param name="Agent">What the browser calls itself; empty if not known.</param>
/// <param name="Created">When it logged in.</param>
/// <param name="LastUsed">When it was used last, to the hour.</param>
/// <param name="Ends">When it ends if it is not used again.</param>
/// <param name="Current">Whether it is the session that asks.</param>
internal sealed record SessionEntry(
    string Id, string Address, string Agent, DateTimeOffset Created, DateTimeOffset LastUsed, DateTimeOffset Ends, bool Current);

/// <summary>All sessions that have not ended, the one used last first.</summary>
internal sealed record SessionEntries(IReadOnlyList<SessionEntry> Items);

/// <summary><c>/api/keys</c>, <c>/api/sessions</c> and <c>/api/session/password</c>: the credentials that there are, and how they begin and end.</summary>
internal static class CredentialResource
{
    private const int MaxName = 64;

    /// <summary>Maps the resource.</summary>
    public static void MapCredentials(this RouteGroupBuilder api)
    {
        api.MapPost("/session/password", GivePasswordAsync).WithName("GivePassword");
        api.MapGet("/keys", ListKeys).WithName("ListKeys");
        api.MapPost("/keys", MakeKeyAsync).WithName("MakeKey");
        api.MapDelete("/keys/{id}", RemoveKeyAsync).WithName("RemoveKey");
        api.MapGet("/sessions", ListSessions).WithName("ListSessions");
        api.MapDelete("/sessions/{id}", EndSessionAsync).WithName("EndSession");
    }

    /// <summary>The session gives the password once more, for what is to be made next.</summary>
    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> GivePasswordAsync(
        PasswordGiven given, HttpContext http, AdminStore store, AdminPassword password, CancellationToken cancellationToken) =>
        await PasswordGate.RefuseAsync(http, given.Password, store, password, cancellationToken) is { } problem ? problem : TypedResults.NoContent();

    private static Ok<KeyEntries> ListKeys(AdminStore store) => TypedResults.Ok(new KeyEntries(
    [
        .. store.Keys.Select(key => new KeyEntry(key.Id.ToString(CultureInfo.InvariantCulture), key.Name, AccessOf(key), key.Created, key.Used)),
    ]));

    private static async Task<Results<Ok<MadeKey>, JsonHttpResult<Problem>>> MakeKeyAsync(
        NewKey key, HttpContext http, AdminStore store, AdminPassword password, CancellationToken cancellationToken)
    {
        if (key.Name.Trim().Length is 0 or > MaxName || !SettingText.IsPlain(key.Name))
            return AdminProblem.BadInput("name", "Give the key a name of at most 64 characters.");
        if (key.Access == KeyAccess.Full && await PasswordGate.RefuseAsync(http, key.Password, store, password, cancellationToken) is { } problem)
            return problem;
        var (row, text) = await store.MakeKeyAsync(key.Name.Trim(), key.Access == KeyAccess.Full, cancellationToken);
        return TypedResults.Ok(new MadeKey(row.Id.ToString(CultureInfo.InvariantCulture), row.Name, AccessOf(row), text));
    }

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> RemoveKeyAsync(string id, AdminStore store, CancellationToken cancellationToken) =>
        long.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && await store.RemoveKeyAsync(number, cancellationToken)
            ? TypedResults.NoContent()
            : AdminProblem.NotFound("There is no such key.");

    private static Ok<SessionEntries> ListSessions(HttpContext http, AdminStore store)
    {
        var current = PasswordGate.SessionOf(http, store)?.Id;
        return TypedResults.Ok(new SessionEntries(
        [
            .. store.Sessions.Select(session => new SessionEntry(
                session.Id, session.Place.Address, session.Place.Agent, session.Created.Stored, session.Used.Stored, store.SessionEnds(session), session.Id == current)),
        ]));
    }

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> EndSessionAsync(string id, AdminStore store, CancellationToken cancellationToken) =>
        await store.EndListedSessionAsync(id, cancellationToken) ? TypedResults.NoContent() : AdminProblem.NotFound("There is no such session.");

    private static KeyAccess AccessOf(AdminKey key) => key.HasFullAccess ? KeyAccess.Full : KeyAccess.Read;
}

/// <summary>How keys and sessions stand in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(PasswordGiven))]
[JsonSerializable(typeof(KeyEntries))]
[JsonSerializable(typeof(NewKey))]
[JsonSerializable(typeof(MadeKey))]
[JsonSerializable(typeof(SessionEntries))]
internal sealed partial class CredentialJson : JsonSerializerContext;
