using Sluice.Server.WebDav.Locks;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>UNLOCK: releases a lock (RFC 4918, section 9.11), even if the item no longer exists.</summary>
internal sealed class UnlockHandler(ILockingManager locks, LockGuard guard) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Unlock];

    public async Task HandleAsync(DavRequest request)
    {
        var response = request.Http.Response;
        var header = request.Http.Request.Headers["Lock-Token"].ToString().Trim();
        if (header is not ['<', _, .., '>'])
        {
            Refusal.Write(response, StatusCodes.Status400BadRequest);
            return;
        }

        if (locks.Release(guard.KeyOf(request.Path), header[1..^1]))
            Refusal.Write(response, StatusCodes.Status204NoContent);
        else
            await DavError.WriteAsync(response, StatusCodes.Status409Conflict, "lock-token-matches-request-uri", [], request.Aborted);
    }
}
