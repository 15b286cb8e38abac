using Sluice.Server.Auth;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=auth</c>: how a client proves itself, and whether its key is the right one.</summary>
internal sealed class AuthMode(ApiKeyVerifier keys, SabAccess access) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "auth";

    /// <inheritdoc/>
    public bool IsOpen => true;

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call)
    {
        var verdict = keys.Verify(call.Parameters.Text("key", "apikey"), Caller.Of(call.Http));
        if (verdict is ApiKeyVerdict.Throttled or ApiKeyVerdict.Locked)
            return access.RefuseAsync(call.Http, verdict);
        return SabAnswer.WriteAsync(call, to => to.Field("auth", verdict switch
        {
            ApiKeyVerdict.Incorrect => "badkey",
            ApiKeyVerdict.AcceptedForAdds => "nzbkey",
            _ => "apikey",
        }));
    }
}
